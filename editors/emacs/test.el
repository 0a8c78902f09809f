;;; test.el --- ERT against a real daemon  -*- lexical-binding: t; -*-

;;; Commentary:

;; emacs -Q --batch -L . -l test.el -f ert-run-tests-batch-and-exit
;; `ctl' and `indexd' are in PATH, and INDEXD_TEST_REPO is the repository that the
;; tests of the editors share.

;;; Code:

(require 'ert)
(require 'indexd)

(defconst test-repo (file-name-as-directory (file-truename (getenv "INDEXD_TEST_REPO"))))
(defconst test-query "how long is the delay before the next attempt")

(defun test-ctl (&rest args)
  "What ctl prints for ARGS in the repository."
  (let ((default-directory test-repo) (coding-system-for-read 'utf-8))
    (with-output-to-string
      (with-current-buffer standard-output (apply #'call-process "ctl" nil '(t nil) nil args)))))

(defmacro test-in (file &rest body)
  "Run BODY in the buffer of FILE."
  (declare (indent 1))
  `(let ((buffer (find-file-noselect (expand-file-name ,file test-repo))))
     (with-current-buffer buffer
       (goto-char (point-min))
       (unwind-protect (progn ,@body)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer (set-buffer-modified-p nil))
           (kill-buffer buffer))))))

(ert-deftest indexd-1-a-pack-is-the-one-of-ctl ()
  (test-in "client.go"
    (indexd-pack test-query)
    (with-current-buffer (format "*indexd: %s*" test-query)
      (let ((lines (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n"))
            (pack (json-parse-string (test-ctl "pack" test-query "--json") :object-type 'plist)))
        (should (equal (nth 0 lines) test-query))
        (should (string-match-p "\\`\\[[#-]\\{24\\}\\] [0-9]+ of 4000 tokens, .* fresh\\'" (nth 1 lines)))
        (should (equal (nth 2 lines) (plist-get pack :packId))))
      ;; The first item is open, the others are folded.
      (goto-char (point-min))
      (re-search-forward "^\\*\\* ")
      (forward-line 2)
      (should-not (outline-invisible-p (point)))
      (re-search-forward "^\\*\\* ")
      (forward-line 2)
      (should (outline-invisible-p (point)))
      ;; Code has the colours of its language.
      (goto-char (point-min))
      (re-search-forward "| \\(func\\) \\(Delay\\)")
      (let ((faces (lambda () (mapcar (lambda (n) (get-text-property (match-beginning n) 'face)) '(1 2)))))
        (with-timeout (20 (ert-fail (funcall faces)))
          (while (not (equal (funcall faces) '(font-lock-keyword-face font-lock-function-name-face)))
            (accept-process-output nil 0.05))))
      (indexd-pack-copy)
      (should (equal (string-trim (current-kill 0)) (string-trim (test-ctl "pack" test-query "--as" "text"))))
      (goto-char (point-min))
      (re-search-forward "| func Delay")
      (indexd-pack-visit)))
  (should (equal (file-name-nondirectory (buffer-file-name (window-buffer))) "retry.go"))
  (with-current-buffer (window-buffer)
    (should (looking-at-p "func Delay"))))

(ert-deftest indexd-2-callers-by-name-and-at-point ()
  (let (offered)
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ table &rest _) (car (setq offered (all-completions "" table))))))
      (test-in "retry.go"
        (indexd-callers "Delay")
        (should (equal offered '("client.go:5  Get  call")))
        (with-current-buffer (window-buffer)
          (should (looking-at-p "Delay(3)"))
          (indexd-callees ""))
        (should (equal offered '("retry.go:8  base  call")))))))

(ert-deftest indexd-3-unsaved-buffers-count ()
  (let ((before (test-ctl "export" "dump")))
    (test-in "client.go"
      (goto-char (point-max))
      (insert "\n// Ωmega: once more.\nfunc Ωmega() int { return Delay(4) }\n")
      (let* ((places (indexd--places (indexd-ask "graph.callers" (indexd--params :symbol "Delay")))))
        (should (equal (mapcar (lambda (p) (list (nth 0 p) (nth 1 p) (nth 2 p))) places)
                       '(("client.go" 5 9) ("client.go" 9 28)))))
      (should (equal (indexd--char-column (expand-file-name "client.go" test-repo) 9 28) 26))
      (goto-char (point-max))
      (re-search-backward "Delay")
      (should (= (indexd--column) 28))
      (should (equal (indexd--symbol-at-point) "scip:indexd gomod example.com/retry . Delay()."))
      (should (string-suffix-p "with 1 unsaved" (indexd--freshness indexd--envelope)))
      (should (equal (test-ctl "export" "dump") before)))))

(ert-deftest indexd-4-what-a-buffer-would-write ()
  (with-temp-buffer
    (insert "a\nb")
    (dolist (case '((utf-8-unix nil "a\nb") (utf-8-unix t "a\nb\n") (utf-8-dos t "a\r\nb\r\n")
                    (utf-8-with-signature-unix nil "\ufeffa\nb")))
      (let ((buffer-file-coding-system (nth 0 case)) (require-final-newline (nth 1 case)))
        (should (equal (indexd--text (current-buffer)) (nth 2 case)))))))

(ert-deftest indexd-5-xref-and-eldoc ()
  (test-in "client.go"
    (indexd-mode 1)
    (should (eq (xref-find-backend) 'indexd))
    (re-search-forward "Delay")
    (goto-char (match-beginning 0))
    (let* ((identifier (xref-backend-identifier-at-point 'indexd))
           (definitions (xref-backend-definitions 'indexd identifier))
           (references (xref-backend-references 'indexd identifier))
           (at (lambda (item) (let ((l (xref-item-location item)))
                                (list (file-name-nondirectory (xref-location-group l)) (xref-location-line l)
                                      (xref-file-location-column l))))))
      (should (equal (mapcar at definitions) '(("retry.go" 4 0))))
      (should (equal (mapcar at references) '(("client.go" 5 8))))
      (should (member "Delay" (all-completions "Delay" (xref-backend-identifier-completion-table 'indexd))))
      (should (xref-backend-apropos 'indexd "base")))
    (indexd-mode -1)
    (should-not (memq #'indexd-eldoc eldoc-documentation-functions)))
  (test-in "retry.go"
    (re-search-forward "^func Delay")
    (let (said)
      (should (indexd-eldoc (lambda (text &rest _) (setq said text))))
      (with-timeout (20 (ert-fail "no answer")) (while (not said) (accept-process-output nil 0.05)))
      (should (equal said "Delay: called by Get")))))

(ert-deftest indexd-6-why-status-and-what-is-refused ()
  (test-in "retry.go"
    (should (string-match-p "\\`retry.go: in the index as go" (indexd-why buffer-file-name)))
    (should (string-match-p "\\`indexd .*, process [0-9]+" (indexd-status)))
    (should (string-match-p "noSuchName" (cadr (should-error (indexd-callers "noSuchName") :type 'indexd-error))))
    (should (equal (indexd-mode-line) " indexd:ok"))))

(ert-deftest indexd-7-the-daemon-may-end-in-between ()
  (test-in "retry.go"
    (let ((pid (lambda () (plist-get (plist-get (indexd-ask "status" nil) :daemon) :pid))))
      (let ((first (funcall pid)))
        (test-ctl "daemon" "stop")
        (should-not (eql first (funcall pid)))))))

(ert-deftest indexd-8-giving-up ()
  (test-in "retry.go"
    (let (code)
      (indexd-request "index.wait" (list :cwd (indexd--cwd))
                      (lambda (failure _) (setq code (plist-get (plist-get failure :data) :code))))
      (indexd-cancel)
      (should (equal code "POC_E_CANCELLED")))
    ;; What ends the waiting cancels the request.
    (should-error (cl-letf (((symbol-function 'accept-process-output) (lambda (_ &optional seconds &rest _) (when (equal seconds 0.1) (signal 'quit nil)))))
                    (condition-case nil (indexd-ask "index.wait" (list :cwd (indexd--cwd)))
                      (quit (error "Quit"))))
                  :type 'error)
    (should (= (hash-table-count indexd--pending) 0))))

;; In the order of their names.
(ert-deftest indexd-8a-progress-and-what-is-not-fresh ()
  (when (process-live-p indexd--connection) (delete-process indexd--connection))
  (let* ((indexd-socket (make-temp-name (expand-file-name "indexd" temporary-file-directory)))
         (n 0)
         (shown nil)
         (envelope `(:fresh :false :pending 2 :repoId "r" :root ,test-repo))
         (answer (lambda (peer line)
                   (let ((id (plist-get (json-parse-string line :object-type 'plist) :id))
                         (send (lambda (m) (process-send-string peer (concat (json-serialize m :false-object :false) "\n")))))
                     (pcase (setq n (1+ n))
                       (1 (funcall send `(:id ,id :error (:message "no" :data (:code "POC_E_BUSY" :retryAfterMs 5)))))
                       (2 (delete-process peer))
                       (_ (funcall send `(:method "$/progress" :params (:id ,id :phase "parse" :done 1 :total 4)))
                          (funcall send `(:id ,id :result (:path "a" :reason "b" :envelope ,envelope))))))))
         (server (make-network-process :name "test" :family 'local :service indexd-socket :server t :noquery t
                                       :filter answer)))
    (unwind-protect
        (cl-letf* ((real (symbol-function 'indexd--show-progress))
                   ((symbol-function 'indexd--show-progress)
                    (lambda (params) (funcall real params) (setq shown (indexd-mode-line)))))
          (test-in "retry.go"
            (should (equal (indexd-why buffer-file-name) "a: b"))
            (should (= n 3))
            (should (equal shown " indexd:parse"))
            (should (equal (indexd-mode-line) " indexd:behind 2"))
            (should (equal (indexd--freshness indexd--envelope) "NOT FRESH: 2 changed paths are missing"))
            ;; What waits for nothing says nothing of freshness.
            (setq indexd--envelope '(:fresh t))
            (indexd-ask "why" (append '(:wait (:mode "stale")) (indexd--params :path buffer-file-name)))
            (should (equal (indexd-mode-line) " indexd:ok"))
            (with-temp-buffer
              (insert "// ")
              (goto-char (point-min))
              (should-not (indexd--word-at-point)))))
      (when (process-live-p indexd--connection) (delete-process indexd--connection))
      (delete-process server)
      (delete-file indexd-socket))))

(ert-deftest indexd-9-an-unknown-program-is-told ()
  (when (process-live-p indexd--connection) (delete-process indexd--connection))
  (let ((indexd-ctl "no-such-ctl") (indexd-socket (expand-file-name "none" test-repo)))
    (should (string-match-p "no-such-ctl is not there" (cadr (should-error (indexd-ask "status" nil) :type 'indexd-error))))))

(provide 'test)
;;; test.el ends here
