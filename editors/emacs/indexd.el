;;; indexd.el --- Context packs and the code graph of indexd  -*- lexical-binding: t; -*-

;; Author: The indexd authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, matching
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; A local daemon keeps an index of each repository in step with its files.
;; This asks it, over its socket: for a pack (the code that a task needs, within
;; a budget of tokens), for callers, callees, uses, and what depends on a
;; definition.  Unsaved buffers count as if they were saved.  `ctl' and `indexd'
;; are needed in PATH; the daemon starts with the first question.
;;
;;   M-x indexd-pack RET where is the retry delay decided RET
;;
;; `indexd-mode' answers `xref-find-definitions' and `xref-find-references' from
;; the index, and shows the callers of what point is on:
;;
;;   (add-hook 'go-mode-hook #'indexd-mode)
;;   (add-hook 'python-mode-hook #'indexd-mode)

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'outline)
(require 'project)
(require 'subr-x)
(require 'thingatpt)
(require 'xref)

(defgroup indexd nil
  "Context packs and the code graph of indexd."
  :group 'tools
  :prefix "indexd-")

(defcustom indexd-ctl "ctl"
  "The program that starts the daemon."
  :type 'string
  :risky t)

(defcustom indexd-socket nil
  "The daemon's socket; nil to find it."
  :type '(choice (const :tag "Find it" nil) file)
  :risky t)

(defcustom indexd-budget 4000
  "Tokens of a pack."
  :type 'natnum)

(defcustom indexd-unsaved t
  "Whether unsaved buffers count as if they were saved."
  :type 'boolean)

(define-error 'indexd-error "The daemon of indexd")

;;;; Connection

(defconst indexd--overlays-max 32 "Unsaved texts in one request.")
(defconst indexd--overlay-bytes-max (* 4 1024 1024) "Bytes of unsaved texts in one request.")
(defconst indexd--retries-max 10 "Connections that one request is sent on.")

(cl-defstruct (indexd--request (:constructor indexd--make-request))
  line done progress (sent 0) on)

(defvar indexd--connection nil "The connection to the daemon.")
(defvar indexd--received nil "Pieces of a line that has not ended, the last first.")
(defvar indexd--pending (make-hash-table) "Requests without an answer, by id.")
(defvar indexd--last-id 0 "Id of the last request.")
(defvar indexd--envelope nil "What the last answer said of itself.")
(defvar indexd--progress nil "How far a first index is.")

(defun indexd--known-socket ()
  "The path of the socket that the protocol names; nil where only ctl can tell."
  (let* ((own (getenv "INDEXD_RUNTIME_DIR"))
         (xdg (getenv "XDG_RUNTIME_DIR"))
         (path (cond (indexd-socket)
                     ((and own (file-name-absolute-p own)) (concat own "/s"))
                     ((and xdg (file-name-absolute-p xdg)) (concat xdg "/indexd/s")))))
    ;; A longer path is none of a socket.
    (and path (< (string-bytes path) 100) path)))

(defun indexd--fail (message &optional code hint)
  "Give a failure like the daemon's: MESSAGE, its CODE, and a HINT."
  (list :message message :data (list :code (or code "POC_E_DAEMON_UNAVAILABLE") :hint hint)))

(defun indexd--run (&rest args)
  "Give what ctl prints for ARGS.
Signal `indexd-error' with what it complains of."
  (let ((errors (make-temp-file "indexd")))
    (unwind-protect
        (with-temp-buffer
          (let* ((coding-system-for-read 'utf-8)
                 (default-directory temporary-file-directory)
                 (status (condition-case nil
                             (apply #'call-process indexd-ctl nil (list t errors) nil args)
                           (file-missing
                            (signal 'indexd-error
                                    (list (format "%s is not there; install indexd, or set `indexd-ctl'"
                                                  indexd-ctl)))))))
            (unless (eql status 0)
              (signal 'indexd-error
                      (list (string-trim (with-temp-buffer (insert-file-contents errors) (buffer-string))))))
            (buffer-string)))
      (delete-file errors))))

(defun indexd--open (path)
  "A connection to the socket at PATH, or nil."
  (condition-case nil
      (make-network-process :name "indexd" :family 'local :service path :coding 'utf-8-unix :noquery t
                            :filter #'indexd--filter :sentinel #'indexd--sentinel)
    (file-error nil)))

(defun indexd--connect ()
  "Connect to the daemon, starting it when there is none."
  (setq indexd--received nil)
  (let ((path (indexd--known-socket)) (starts 0))
    (while (not (setq indexd--connection (and path (indexd--open path))))
      (when (= starts 3)
        (signal 'indexd-error '("The daemon cannot be reached; see ctl doctor")))
      (setq starts (1+ starts))
      (indexd--run "--quiet" "daemon" "start")
      (let ((status (json-parse-string (indexd--run "status" "--json") :object-type 'plist)))
        (setq path (or indexd-socket (plist-get (plist-get status :daemon) :socket)))))))

(defun indexd--send-all ()
  "Send what was not sent on this connection."
  ;; A daemon that has ended is noticed before anything is written to it.
  (when indexd--connection (accept-process-output indexd--connection 0))
  (unless (process-live-p indexd--connection) (indexd--connect))
  (maphash
   (lambda (id request)
     (unless (eq (indexd--request-on request) indexd--connection)
       (if (>= (indexd--request-sent request) indexd--retries-max)
           (indexd--finish id (indexd--fail "The daemon ends each time it is asked") nil)
         (cl-incf (indexd--request-sent request))
         (setf (indexd--request-on request) indexd--connection)
         (process-send-string indexd--connection (indexd--request-line request)))))
   (copy-hash-table indexd--pending)))

(defun indexd--send-again ()
  "Send what is pending; what cannot be sent fails."
  (condition-case failure
      (indexd--send-all)
    (indexd-error
     (maphash (lambda (id _) (indexd--finish id (indexd--fail (cadr failure)) nil))
              (copy-hash-table indexd--pending)))))

(defun indexd--finish (id failure result)
  "End the request ID with FAILURE or RESULT."
  (when-let* ((request (gethash id indexd--pending)))
    (remhash id indexd--pending)
    (when (= (hash-table-count indexd--pending) 0) (setq indexd--progress nil))
    ;; An answer that waited for nothing does not know whether it is fresh.
    (when-let* ((envelope (plist-get result :envelope))
                ((not (string-search "\"mode\":\"stale\"" (indexd--request-line request)))))
      (setq indexd--envelope envelope))
    (force-mode-line-update t)
    (funcall (indexd--request-done request) failure result)))

(defun indexd--sentinel (process _event)
  "Send again what was not answered when PROCESS has ended.
Requests change nothing."
  (unless (process-live-p process)
    (when (eq process indexd--connection)
      (setq indexd--connection nil)
      (when (> (hash-table-count indexd--pending) 0) (indexd--send-again)))))

(defun indexd--filter (process text)
  "Take the lines of TEXT, which came from PROCESS."
  (when (eq process indexd--connection)
    (let ((start 0) end)
      (while (setq end (string-search "\n" text start))
        (push (substring text start end) indexd--received)
        (let ((line (apply #'concat (nreverse indexd--received))))
          (setq indexd--received nil start (1+ end))
          (unless (string-empty-p line) (indexd--receive line))))
      (push (substring text start) indexd--received))))

(defun indexd--receive (line)
  "Take a message of one LINE."
  (let* ((message (json-parse-string line :object-type 'plist :array-type 'list
                                     :false-object nil :null-object nil))
         (params (plist-get message :params))
         (id (or (plist-get message :id) (plist-get params :id)))
         (request (and (numberp id) (gethash id indexd--pending)))
         (failure (plist-get message :error))
         (code (plist-get (plist-get failure :data) :code)))
    (cond
     ((null request))
     ((equal (plist-get message :method) "$/progress")
      (setq indexd--progress params)
      (force-mode-line-update t)
      (when-let* ((progress (indexd--request-progress request))) (funcall progress params)))
     ((and (member code '("POC_E_SHUTTING_DOWN" "POC_E_BUSY"))
           (< (indexd--request-sent request) indexd--retries-max))
      (setf (indexd--request-on request) nil)
      (when (equal code "POC_E_SHUTTING_DOWN")
        (let ((old indexd--connection))
          (setq indexd--connection nil)
          (delete-process old)))
      (run-at-time (/ (or (plist-get (plist-get failure :data) :retryAfterMs) 100) 1000.0) nil
                   #'indexd--send-again))
     ((not (plist-member message :method)) (indexd--finish id failure (plist-get message :result))))))

(defun indexd-request (method params done &optional progress)
  "Ask METHOD with PARAMS; give the id of the request.
DONE is called with a failure or nil, and the result.  PROGRESS is
called with how far a first index is."
  (let* ((id (cl-incf indexd--last-id))
         (message (list :jsonrpc "2.0" :id id :method method :params (or params (make-hash-table))))
         (line (concat (json-serialize message :false-object :false) "\n")))
    (puthash id (indexd--make-request :line (decode-coding-string line 'utf-8) :done done :progress progress)
             indexd--pending)
    (let (sent)
      (unwind-protect (progn (indexd--send-all) (setq sent t))
        (unless sent (remhash id indexd--pending))))
    id))

(defun indexd-cancel (&optional id)
  "Give up the request ID, or all of them."
  (interactive)
  (dolist (one (if id (list id) (hash-table-keys indexd--pending)))
    (when (process-live-p indexd--connection)
      (process-send-string
       indexd--connection
       (concat (json-serialize (list :jsonrpc "2.0" :method "$/cancelRequest" :params (list :id one))) "\n")))
    (indexd--finish one (indexd--fail "Cancelled" "POC_E_CANCELLED") nil)))

(defun indexd--show-progress (params)
  "Show PARAMS of progress in the echo area."
  (let ((total (plist-get params :total)) (message-log-max nil))
    (message "indexd: %s%s (C-g gives up)" (plist-get params :phase)
             (if (> total 0) (format " %d%%" (/ (* 100 (plist-get params :done)) total)) ""))))

(defun indexd-ask (method params)
  "Give the answer of METHOD with PARAMS; quitting gives up.
Signal `indexd-error' with what the daemon refuses."
  (let* (answered failure result
         (id (indexd-request method params
                             (lambda (f r) (setq answered t failure f result r))
                             #'indexd--show-progress)))
    (unwind-protect
        (while (not answered)
          (accept-process-output indexd--connection 0.1))
      (unless answered (indexd-cancel id)))
    (when failure
      (let ((hint (plist-get (plist-get failure :data) :hint)))
        (signal 'indexd-error
                (list (concat (plist-get failure :message)
                              (and hint (not (string-empty-p hint)) (format " (%s)" hint)))))))
    result))

;;;; What is asked about

(defun indexd--cwd ()
  "The folder that a request is about, without a slash at its end."
  (directory-file-name (file-truename (expand-file-name default-directory))))

(defun indexd--root ()
  "The root of the repository as far as Emacs knows."
  (let ((project (project-current)))
    (file-name-as-directory
     (file-truename (if project (project-root project) default-directory)))))

(defun indexd--text (buffer)
  "What BUFFER would write: its text with its ends of lines and its mark."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (let* ((coding (or buffer-file-coding-system 'utf-8-unix))
             (ends (pcase (coding-system-eol-type coding) (1 "\r\n") (2 "\r")))
             (text (buffer-substring-no-properties (point-min) (point-max)))
             (text (if (and require-final-newline (not (string-empty-p text)) (not (string-suffix-p "\n" text)))
                       (concat text "\n")
                     text)))
        (concat (and (coding-system-get coding :bom) "\ufeff")
                (if ends (string-replace "\n" ends text) text))))))

(defun indexd--overlays ()
  "Unsaved texts beneath the root, as many as a request may carry."
  (let ((root (indexd--root)) (bytes 0) (overlays nil) (n-left-out 0))
    (when indexd-unsaved
      (dolist (buffer (buffer-list))
        (let ((file (buffer-file-name buffer)))
          (when (and file (buffer-modified-p buffer) (string-prefix-p root (file-truename file)))
            (let* ((text (indexd--text buffer)) (size (string-bytes text)))
              (if (or (= (length overlays) indexd--overlays-max)
                      (> (+ bytes size) indexd--overlay-bytes-max))
                  (setq n-left-out (1+ n-left-out))
                (setq bytes (+ bytes size))
                (push (list :path (file-truename file) :text text) overlays)))))))
    (when (> n-left-out 0)
      (message "indexd: %d unsaved buffers are above the limits and do not count" n-left-out))
    (vconcat (nreverse overlays))))

(defun indexd--params (&rest params)
  "PARAMS with what every request about a repository has."
  (let ((overlays (indexd--overlays)))
    (append params (list :cwd (indexd--cwd) :progress t)
            (and (> (length overlays) 0) (list :overlays overlays)))))

(defun indexd--freshness (envelope)
  "Give the sentence of ENVELOPE about freshness."
  (let ((unsaved (length (plist-get (plist-get envelope :overlays) :applied)))
        (pending (or (plist-get envelope :pending) 0)))
    (cond ((and (plist-get envelope :fresh) (> unsaved 0)) (format "fresh, with %d unsaved" unsaved))
          ((plist-get envelope :fresh) "fresh")
          ((> pending 0) (format "NOT FRESH: %d changed paths are missing" pending))
          (t "NOT FRESH: the last saves may be missing"))))

(defun indexd--warn (envelope)
  "Tell what the reader of an answer with ENVELOPE must know."
  (unless (plist-get envelope :fresh) (message "indexd: %s" (indexd--freshness envelope)))
  (dolist (warning (plist-get envelope :warnings)) (message "indexd: %s" warning))
  (dolist (left-out (plist-get (plist-get envelope :overlays) :leftOut))
    (message "indexd: an unsaved text does not count: %s" (plist-get left-out :reason))))

(defun indexd--column ()
  "The column of point as the daemon counts: in UTF-8 bytes from 1."
  (1+ (string-bytes (encode-coding-string
                     (buffer-substring-no-properties (line-beginning-position) (point)) 'utf-8 t))))

(defun indexd--goto (root path line &optional column)
  "Visit PATH beneath ROOT at LINE and COLUMN, in bytes from 1."
  (find-file (expand-file-name path root))
  (widen)
  (goto-char (point-min))
  (forward-line (1- line))
  (when column
    (let ((text (encode-coding-string (buffer-substring-no-properties (point) (line-end-position)) 'utf-8 t)))
      (forward-char (length (decode-coding-string (substring text 0 (min (1- column) (length text))) 'utf-8))))))

(defun indexd--word-at-point ()
  "The name at point, or nil; the mark of a comment is not one."
  (when-let* ((word (thing-at-point 'symbol t)))
    (and (string-match-p "[[:alpha:]_]" word) word)))

(defun indexd--symbol-at-point ()
  "The definition that point is on or means: its symbol id, else its name; or nil."
  (when-let* ((word (indexd--word-at-point)))
    (let* ((line (line-number-at-pos nil t))
           (column (indexd--column))
           (file (and buffer-file-name (file-truename buffer-file-name)))
           (found (indexd-ask "symbol" (indexd--params :name word :limit 500)))
           (root (plist-get (plist-get found :envelope) :root))
           (own (seq-find (lambda (s) (and file (= (plist-get s :line) line)
                                           (equal file (expand-file-name (plist-get s :fileRelPath) root))))
                          (plist-get found :symbols))))
      (or (and own (plist-get own :symbolId))
          (and file (indexd--called word file line column))
          word))))

(defun indexd--called (word file line column)
  "The id of what a call of WORD in FILE at LINE and COLUMN leads to, or nil."
  (when-let* ((result (ignore-error indexd-error
                        (indexd-ask "graph.callees" (indexd--params :symbol (format "%s:%d" file line)
                                                                    :limit 2000 :minConfidence 0))))
              (edge (seq-find
                     (lambda (edge)
                       (and (equal word (plist-get (plist-get edge :target) :name))
                            (seq-some (lambda (e)
                                        (and (= line (plist-get e :line))
                                             (<= (plist-get e :column) column
                                                 (+ (plist-get e :column) (string-bytes word)))))
                                      (plist-get edge :evidence))))
                     (plist-get result :edges))))
    (plist-get (plist-get edge :target) :symbolId)))

;;;; The graph

(defun indexd--name (symbol)
  "The name of SYMBOL with those around it."
  (let ((qualified (plist-get symbol :qualifiedName)))
    (if (string-empty-p (or qualified "")) (plist-get symbol :name) qualified)))

(defun indexd--places (result)
  "The places of RESULT: lists of path, line, column or nil, and what is there."
  (let ((ahead (equal (plist-get result :relation) "callees")))
    (mapcan
     (lambda (edge)
       (let* ((other (plist-get edge (if ahead :target :source)))
              (depth (plist-get edge :depth))
              (label (format "%s  %s%s" (indexd--name other) (plist-get edge :kind)
                             (if (> depth 1) (format ", %d steps" depth) ""))))
         (if ahead
             (list (list (plist-get other :fileRelPath) (plist-get other :line) nil label))
           (mapcar (lambda (e) (list (plist-get other :fileRelPath) (plist-get e :line) (plist-get e :column) label))
                   (plist-get edge :evidence)))))
     (plist-get result :edges))))

(defun indexd--read-symbol (prompt)
  "Ask for a symbol with PROMPT; without input it is the one at point."
  (let ((word (indexd--word-at-point)))
    (read-string (format-prompt prompt word) nil nil nil)))

(defun indexd--graph (relation symbol)
  "Choose one of the places of RELATION of SYMBOL, and go there."
  (let* ((symbol (if (string-empty-p symbol) (indexd--symbol-at-point) symbol))
         (result (indexd-ask (concat "graph." relation)
                             (indexd--params :symbol (or symbol (user-error "There is no name at point")))))
         (root (plist-get (plist-get result :envelope) :root))
         (places (indexd--places result))
         (choices (mapcar (lambda (p) (cons (format "%s:%d  %s" (nth 0 p) (nth 1 p) (nth 3 p)) p)) places))
         (names (string-join (mapcar #'indexd--name (plist-get result :roots)) ", ")))
    (indexd--warn (plist-get result :envelope))
    (if (null choices)
        (message "No %s of %s; %s" relation names (plist-get (plist-get result :coverage) :statement))
      (let ((place (cdr (assoc (completing-read (format "%s of %s: " (capitalize relation) names)
                                                (indexd--in-order choices) nil t)
                               choices))))
        (xref-push-marker-stack)
        (indexd--goto root (nth 0 place) (nth 1 place) (nth 2 place))))))

(defun indexd--in-order (choices)
  "Give a completion table of CHOICES in their order."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        '(metadata (display-sort-function . identity) (cycle-sort-function . identity))
      (complete-with-action action choices string predicate))))

;;;###autoload
(defun indexd-callers (symbol)
  "Choose among the callers of SYMBOL, or of what point is on."
  (interactive (list (indexd--read-symbol "Callers of")))
  (indexd--graph "callers" symbol))

;;;###autoload
(defun indexd-callees (symbol)
  "Choose among the callees of SYMBOL, or of what point is on."
  (interactive (list (indexd--read-symbol "Callees of")))
  (indexd--graph "callees" symbol))

;;;###autoload
(defun indexd-refs (symbol)
  "Choose among the references to SYMBOL, or to what point is on."
  (interactive (list (indexd--read-symbol "Uses of")))
  (indexd--graph "refs" symbol))

;;;###autoload
(defun indexd-impact (symbol)
  "Choose among what depends on SYMBOL, or on what point is on."
  (interactive (list (indexd--read-symbol "Impact of")))
  (indexd--graph "impact" symbol))

;;;###autoload
(defun indexd-why (file)
  "Tell whether FILE is in the index, and the rule or limit behind it."
  (interactive (list (or buffer-file-name (read-file-name "File: "))))
  (let ((result (indexd-ask "why" (indexd--params :path (expand-file-name file)))))
    (message "%s: %s" (plist-get result :path) (plist-get result :reason))))

;;;###autoload
(defun indexd-status ()
  "Tell of the daemon and its repositories."
  (interactive)
  (let* ((result (indexd-ask "status" nil)) (daemon (plist-get result :daemon)))
    (message "indexd %s, process %d%s" (plist-get daemon :version) (plist-get daemon :pid)
             (mapconcat (lambda (w) (format "\n%s: %s files" (plist-get w :root) (or (plist-get w :nFiles) 0)))
                        (plist-get result :workspaces) ""))))

;;;; The pack

(defvar-local indexd--pack nil "The answer of this buffer.")

(defvar indexd-pack-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "RET") #'indexd-pack-visit)
    (define-key map (kbd "TAB") #'outline-cycle)
    (define-key map (kbd "<backtab>") #'outline-cycle-buffer)
    (define-key map (kbd "n") #'outline-next-visible-heading)
    (define-key map (kbd "p") #'outline-previous-visible-heading)
    (define-key map (kbd "w") #'indexd-pack-copy)
    map)
  "Keys of `indexd-pack-mode'.")

(define-derived-mode indexd-pack-mode special-mode "Pack"
  "A pack: the budget as a bar, sections, items with their reasons, and code.
\\{indexd-pack-mode-map}"
  (setq-local outline-regexp "\\*+ ")
  (setq-local revert-buffer-function
              (lambda (&rest _)
                (indexd-pack (plist-get (plist-get (plist-get indexd--pack :pack) :request) :query))))
  (setq truncate-lines t)
  (outline-minor-mode 1))

(defun indexd--bar (used budget)
  "A bar of 24 characters for USED of BUDGET."
  (let ((full (if (> budget 0) (round (* 24.0 (/ (float (min used budget)) budget))) 0)))
    (concat "[" (make-string full ?#) (make-string (- 24 full) ?-) "]")))

(defconst indexd--faces
  '(("comment" . font-lock-comment-face) ("string" . font-lock-string-face)
    ("number" . font-lock-constant-face) ("keyword" . font-lock-keyword-face)
    ("type" . font-lock-type-face) ("function" . font-lock-function-name-face))
  "Faces of the classes that the daemon gives to code.")

(defconst indexd--highlight-places-max 2000 "Runs of lines in one request for colours.")

(defun indexd--code-places (pack)
  "The lines of code of PACK, as a request for their colours names them."
  (let (places)
    (dolist (section (plist-get pack :sections))
      (dolist (item (plist-get section :items))
        (unless (equal (plist-get item :form) "diff")
          (dolist (part (plist-get (plist-get item :excerpt) :parts))
            (push (list :fileRelPath (plist-get item :fileRelPath)
                        :lines (list :start (plist-get (plist-get part :lines) :start)
                                     :end (plist-get (plist-get part :lines) :end)))
                  places)))))
    (vconcat (seq-take (nreverse places) indexd--highlight-places-max))))

(defun indexd--colour (lines)
  "Colour the code of this buffer by LINES, as `highlight' gives them."
  (let ((known (make-hash-table :test #'equal)) (inhibit-read-only t))
    (dolist (line lines)
      (puthash (cons (plist-get line :fileRelPath) (plist-get line :line)) line known))
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward "^ *[0-9]+| " nil t)
        (put-text-property (match-beginning 0) (match-end 0) 'face 'line-number)
        (when-let* ((line (gethash (get-text-property (match-beginning 0) 'indexd-place) known))
                    (from (point))
                    ((equal (buffer-substring-no-properties from (line-end-position)) (plist-get line :text))))
          (dolist (piece (plist-get line :pieces))
            (let* ((bytes (encode-coding-string (plist-get line :text) 'utf-8 t))
                   (chars (lambda (n) (length (decode-coding-string (substring bytes 0 n) 'utf-8)))))
              (put-text-property (+ from (funcall chars (plist-get piece :start)))
                                 (+ from (funcall chars (plist-get piece :end)))
                                 'face (cdr (assoc (plist-get piece :class) indexd--faces))))))))))

(defun indexd--ask-colours (buffer pack)
  "Colour the code of PACK in BUFFER; without an answer it is read without colours."
  (ignore-error indexd-error
    (indexd-request
     "highlight"
     (indexd--params :places (indexd--code-places pack) :wait '(:mode "stale"))
     (lambda (failure result)
       (when (and (not failure) (buffer-live-p buffer))
         (with-current-buffer buffer (indexd--colour (plist-get result :lines))))))))

(defun indexd--insert (path line &rest strings)
  "Insert STRINGS as a line that stands for LINE of PATH."
  (let ((from (point)))
    (insert (string-replace "\n" " " (apply #'concat strings)) "\n")
    (save-excursion
      (goto-char from)
      (when-let* ((face (cond ((looking-at-p "\\* ") 'outline-1)
                              ((looking-at-p "\\*\\* ") 'outline-2)
                              ((looking-at-p "   [^ 0-9]") 'shadow))))
        (put-text-property from (1- (point-max)) 'face face)))
    (when path (put-text-property from (point) 'indexd-place (cons path line)))))

(defun indexd--insert-item (item)
  "Insert ITEM of a pack: its heading, its reason and its code."
  (let* ((path (plist-get item :fileRelPath))
         (lines (plist-get item :lines))
         (why (plist-get item :why))
         (first (car (plist-get why :evidence)))
         (excerpt (plist-get item :excerpt))
         (texts (split-string (string-remove-suffix "\n" (or (plist-get excerpt :text) "")) "\n")))
    (indexd--insert path (plist-get lines :start)
                    (format "** %s:%d-%d  %s" path (plist-get lines :start) (plist-get lines :end)
                            (or (plist-get item :title) "")))
    (indexd--insert path (plist-get lines :start)
                    (format "   %s%s, %d tokens" (plist-get why :rule)
                            (if (and first (> (or (plist-get first :line) 0) 0))
                                (format ": %s at %s:%d" (or (plist-get first :via) (plist-get first :kind))
                                        (plist-get first :fileRelPath) (plist-get first :line))
                              "")
                            (or (plist-get item :tokens) 0)))
    (dolist (part (plist-get excerpt :parts))
      (cl-loop for number from (plist-get (plist-get part :lines) :start) to (plist-get (plist-get part :lines) :end)
               while texts
               do (indexd--insert path number (format "%6d| %s" number (string-remove-suffix "\r" (pop texts))))))))

(defun indexd--insert-pack (result)
  "Insert the pack of RESULT."
  (let* ((pack (plist-get result :pack)) (stats (plist-get pack :stats))
         (used (plist-get stats :tokenCount)) (budget (plist-get stats :tokenBudget)))
    (indexd--insert nil nil (plist-get (plist-get pack :request) :query))
    (indexd--insert nil nil (format "%s %d of %d tokens, %d of %d candidates, %s" (indexd--bar used budget) used budget
                                    (plist-get stats :included) (plist-get stats :found)
                                    (indexd--freshness (plist-get result :envelope))))
    (indexd--insert nil nil (plist-get pack :packId))
    (dolist (warning (plist-get pack :warnings)) (indexd--insert nil nil "warning: " warning))
    (dolist (section (plist-get pack :sections))
      (when-let* ((items (plist-get section :items)))
        (let ((tokens (apply #'+ (mapcar (lambda (i) (or (plist-get i :tokens) 0)) items))))
          (indexd--insert nil nil (format "* %s  %s %d tokens" (plist-get section :name) (indexd--bar tokens budget) tokens)))
        (mapc #'indexd--insert-item items)))
    (when-let* ((next (plist-get pack :suggested_next_queries)))
      (indexd--insert nil nil "* try next")
      (dolist (query next) (indexd--insert nil nil "   " query)))))

;;;###autoload
(defun indexd-pack (query)
  "Assemble a pack for QUERY and show it."
  (interactive (list (if (use-region-p)
                         (buffer-substring-no-properties (region-beginning) (region-end))
                       (read-string "Pack for: "))))
  (let* ((directory default-directory)
         ;; What `ctl pack' asks for.
         (budgets (list :maxTotalTokens indexd-budget :maxBytesPerItem 16000 :maxItems 250 :maxItemsPerSection 80))
         (result (indexd-ask "pack" (indexd--params :query query :includeExplain :false :rendered t
                                                    :defaultBudgets budgets)))
         (buffer (get-buffer-create (format "*indexd: %s*" (truncate-string-to-width query 50)))))
    (with-current-buffer buffer
      (indexd-pack-mode)
      (setq default-directory directory
            indexd--pack result)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (indexd--insert-pack result))
      (outline-hide-sublevels 2)
      ;; The best one is read at once.
      (goto-char (point-min))
      (when (re-search-forward "^\\*\\* " nil t) (outline-show-entry))
      (goto-char (point-min))
      (indexd--ask-colours buffer (plist-get result :pack)))
    (indexd--warn (plist-get result :envelope))
    (pop-to-buffer buffer)))

(defun indexd-pack-visit ()
  "Visit what the line stands for."
  (interactive)
  (let ((place (get-text-property (line-beginning-position) 'indexd-place)))
    (unless place (user-error "The line stands for no place"))
    (xref-push-marker-stack)
    (indexd--goto (plist-get (plist-get indexd--pack :envelope) :root) (car place) (cdr place))))

(defun indexd-pack-copy ()
  "Copy the pack as text, as a model gets it."
  (interactive)
  (kill-new (plist-get indexd--pack :rendered))
  (message "%d tokens copied" (plist-get (plist-get (plist-get indexd--pack :pack) :stats) :tokenCount)))

;;;; Xref and eldoc

(defun indexd--xref-backend ()
  "The backend of xref in `indexd-mode'."
  'indexd)

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql indexd)))
  "The name at point, with where it stands."
  (when-let* ((word (indexd--word-at-point)))
    (propertize word 'indexd-at (list (current-buffer) (point)))))

(cl-defmethod xref-backend-identifier-completion-table ((_backend (eql indexd)))
  "Names of the index that hold what is typed."
  (completion-table-dynamic
   (lambda (typed)
     (and (not (string-empty-p typed))
          (mapcar (lambda (s) (indexd--name s))
                  (ignore-error indexd-error
                    (plist-get (indexd-ask "symbol" (indexd--params :name typed :limit 100)) :symbols)))))))

(defun indexd--resolve (identifier)
  "What IDENTIFIER of xref stands for."
  (pcase (get-text-property 0 'indexd-at identifier)
    (`(,(and (pred buffer-live-p) buffer) ,at)
     (with-current-buffer buffer
       (save-excursion (goto-char at) (or (indexd--symbol-at-point) identifier))))
    (_ (substring-no-properties identifier))))

(defun indexd--xref (root path line column summary)
  "An item of xref for PATH beneath ROOT at LINE and COLUMN, with SUMMARY."
  (let* ((file (expand-file-name path root))
         (column (indexd--char-column file line (or column 1))))
    (xref-make summary (xref-make-file-location file line column))))

(defun indexd--char-column (file line column)
  "Characters before byte COLUMN of LINE in FILE."
  (if (= column 1)
      0
    (let ((buffer (find-buffer-visiting file)))
      (with-temp-buffer
        (if buffer
            (insert-buffer-substring-no-properties buffer)
          (let ((coding-system-for-read 'utf-8)) (ignore-error file-error (insert-file-contents file))))
        (goto-char (point-min))
        (forward-line (1- line))
        (let ((text (encode-coding-string (buffer-substring-no-properties (point) (line-end-position)) 'utf-8 t)))
          (length (decode-coding-string (substring text 0 (min (1- column) (length text))) 'utf-8)))))))

(cl-defmethod xref-backend-definitions ((_backend (eql indexd)) identifier)
  "Definitions that IDENTIFIER stands for."
  (let* ((result (indexd-ask "symbol" (indexd--params :name (indexd--resolve identifier) :limit 100)))
         (root (plist-get (plist-get result :envelope) :root)))
    (mapcar (lambda (s) (indexd--xref root (plist-get s :fileRelPath) (plist-get s :line) nil (plist-get s :signature)))
            (plist-get result :symbols))))

(cl-defmethod xref-backend-references ((_backend (eql indexd)) identifier)
  "Places of references to what IDENTIFIER stands for."
  (let* ((result (indexd-ask "graph.refs" (indexd--params :symbol (indexd--resolve identifier) :limit 2000)))
         (root (plist-get (plist-get result :envelope) :root)))
    (mapcar (lambda (p) (indexd--xref root (nth 0 p) (nth 1 p) (nth 2 p) (nth 3 p))) (indexd--places result))))

(cl-defmethod xref-backend-apropos ((_backend (eql indexd)) pattern)
  "Definitions whose names hold the words of PATTERN."
  (let* ((result (indexd-ask "symbol" (indexd--params :name pattern :limit 500)))
         (root (plist-get (plist-get result :envelope) :root)))
    (mapcar (lambda (s) (indexd--xref root (plist-get s :fileRelPath) (plist-get s :line) nil (plist-get s :signature)))
            (plist-get result :symbols))))

(defun indexd--eldoc-text (result)
  "One line about the callers in RESULT."
  (let* ((sources (delete-dups (mapcar (lambda (e) (indexd--name (plist-get e :source))) (plist-get result :edges))))
         (n (length sources))
         (names (mapconcat #'indexd--name (plist-get result :roots) ", ")))
    (if (= n 0)
        (format "%s: no callers" names)
      (format "%s: called by %s%s" names (string-join (seq-take sources 4) ", ")
              (if (> n 4) (format " and %d more" (- n 4)) "")))))

(defun indexd-eldoc (callback &rest _)
  "Give CALLBACK the callers of the definition whose name point is on."
  (when-let* ((word (indexd--word-at-point))
              (file (and buffer-file-name (file-truename buffer-file-name))))
    (let ((asked (format "%s:%d" file (line-number-at-pos nil t))))
      ;; Not waited for, and not worth a message when it fails.
      (ignore-error indexd-error
        (indexd-request
         "graph.callers"
         (append (list :wait '(:mode "stale")) (indexd--params :symbol asked :limit 50))
         (lambda (failure result)
           (let ((roots (and (not failure) (plist-get result :roots))))
             (when (seq-find (lambda (r) (equal word (plist-get r :name))) roots)
               (funcall callback (indexd--eldoc-text result) :thing word))))))
      t)))

(defun indexd-mode-line ()
  "For the mode line: whether answers are fresh, or how far a first index is."
  (cond (indexd--progress (format " indexd:%s" (plist-get indexd--progress :phase)))
        ((null indexd--envelope) " indexd")
        ((plist-get indexd--envelope :fresh) " indexd:ok")
        (t (format " indexd:behind %d" (or (plist-get indexd--envelope :pending) 0)))))

;;;###autoload
(define-minor-mode indexd-mode
  "Answer definitions and references from the index; show callers."
  :lighter (:eval (indexd-mode-line))
  (if indexd-mode
      (progn (add-hook 'xref-backend-functions #'indexd--xref-backend nil t)
             (add-hook 'eldoc-documentation-functions #'indexd-eldoc nil t))
    (remove-hook 'xref-backend-functions #'indexd--xref-backend t)
    (remove-hook 'eldoc-documentation-functions #'indexd-eldoc t)))

(provide 'indexd)
;;; indexd.el ends here
