;;; From the top of the source tree: guix build -f packaging/guix/oneshmem.scm
;;;
;;; The build takes crates from the folder `vendor`, as builds have no network:
;;;     cargo vendor --locked > vendor.toml
(use-modules (guix packages)
             (guix gexp)
             (guix build-system gnu)
             ((guix licenses) #:prefix license:)
             (gnu packages rust))

(package
  (name "oneshmem")
  (version "0.1.0")
  (source (local-file "../.." "oneshmem-checkout" #:recursive? #t
                      #:select? (lambda (file stat)
                                  (not (member (basename file) '(".git" "build" "target"))))))
  (build-system gnu-build-system)
  (arguments
   (list #:make-flags #~(list (string-append "PREFIX=" #$output) "CC=gcc")
         #:phases
         #~(modify-phases %standard-phases
             (replace 'configure
               (lambda _
                 (setenv "CARGO_HOME" (string-append (getcwd) "/.cargo"))
                 (mkdir-p ".cargo")
                 (copy-file "vendor.toml" ".cargo/config.toml")))
             (replace 'check
               (lambda* (#:key tests? #:allow-other-keys)
                 (when tests?
                   (invoke "tests/installation")))))))
  (native-inputs (list rust `(,rust "cargo")))
  (supported-systems '("x86_64-linux" "aarch64-linux"))
  (home-page "https://openshmem.org")
  (synopsis "OpenSHMEM 1.6 for the processes of one machine")
  (description "Every processing element maps the memory of every other one, so a put is one
copy, an atomic operation is one locked instruction, and nothing runs in between.")
  (license (list license:expat license:asl2.0)))
