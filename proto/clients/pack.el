;;; emacs --batch -l pack.el -- QUERY: the pack's id and its places.  -*- lexical-binding: t; -*-
(require 'json)
(call-process "ctl" nil nil nil "--quiet" "daemon" "start")
(let* ((status (json-parse-string (with-output-to-string (call-process "ctl" nil standard-output nil "status" "--json"))))
       (socket (gethash "socket" (gethash "daemon" status)))
       (received (generate-new-buffer " *indexd*" t))
       (connection (make-network-process :name "indexd" :family 'local :service socket
                                         :buffer received :coding 'utf-8-unix))
       (budgets '(:maxTotalTokens 4000 :maxBytesPerItem 16000 :maxItems 250 :maxItemsPerSection 80))
       (params (list :cwd default-directory :query (cadr (member "--" command-line-args))
                     :includeExplain :false :defaultBudgets budgets)))
  (process-send-string
   connection (concat (json-serialize (list :id 1 :method "pack" :params params) :false-object :false) "\n"))
  (with-current-buffer received
    (while (not (progn (goto-char (point-min)) (search-forward "\n" nil t))) (accept-process-output connection 1))
    (goto-char (point-min))
    (let* ((answer (json-parse-buffer :object-type 'plist :array-type 'list))
           (pack (plist-get (plist-get answer :result) :pack)))
      (unless pack (error "%s" (plist-get (plist-get answer :error) :message)))
      (princ (format "%s\n" (plist-get pack :packId)))
      (dolist (section (plist-get pack :sections))
        (dolist (item (plist-get section :items))
          (princ (format "%s:%s\n" (plist-get item :fileRelPath) (plist-get (plist-get item :lines) :start))))))))
(kill-emacs 0)
