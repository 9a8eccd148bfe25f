"""How people are asked about images, and how well they answer: plan tasks, export them, read what came back, weigh it.

Tasks are pages of images for one class with hidden controls. They leave and come back as files of Mechanical Turk, of Label
Studio, or as plain CSV. What is read becomes rows for `resit.store`; nothing is stored here.
"""
