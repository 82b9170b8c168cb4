"""A page on which a person cuts an object out of a photograph with a brush.

``marks`` are what the person has painted, ``studio`` the exact answer to them, ``desk`` one open
page, and ``server`` all pages.  Starlette and uvicorn are imported by ``server`` alone.
"""
