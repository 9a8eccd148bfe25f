"""Why the drop? A file for each hypothesis, all of one interface (:mod:`resit.study.hypotheses.interface`)."""
