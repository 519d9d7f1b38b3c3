;;; Reads oneshmem.scm where there is no Guix: guile packaging/guix/check.scm. Writes what the package
;;; says of itself, a field a line; an error if parentheses or fields do not fit.
(use-modules (ice-9 match))

(define file (string-append (dirname (current-filename)) "/oneshmem.scm"))

;; Gexps are Guix's own syntax: #~(..) and #$x are read as lists.
(for-each (lambda (character)
            (read-hash-extend character (lambda (char port) (list 'gexp (read port)))))
          '(#\~ #\$))

(define forms
  (call-with-input-file file
    (lambda (port)
      (let loop ((form (read port)) (forms '()))
        (if (eof-object? form) (reverse forms) (loop (read port) (cons form forms)))))))

(match forms
  ((('use-modules modules ...) ('package fields ...))
   (for-each (match-lambda ((name values ...) (format #t "~a: ~s~%" name (car values))))
             fields))
  (_ (error "expected (use-modules ...) and (package ...), found" (map car forms))))
