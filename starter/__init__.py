"""What start.py does: make the environment, check it, open JupyterLab, run the tests.

Standard library only, one concept a file. checks.py and serve.py run inside the environment,
everything else outside it.
"""
