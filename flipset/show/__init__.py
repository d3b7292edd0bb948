"""Results for people: the words, and text, HTML reports and plots made of them."""
