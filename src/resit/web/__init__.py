"""People at work on a build in their browsers: voting and administration, each page by invitation.

`resit.web.run.serve` runs the server, `resit.web.app.make_app` makes the application. All state lives in the build's
database; what a process keeps in memory can be made again from it.
"""
