"""What is measured, side by side in one run; absolute times mean nothing on another machine."""
