"""What must be said before the libraries are imported: no network, and one thread.

Threads of several processes on few cores wait for each other, up to ten times as long as the work takes.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
