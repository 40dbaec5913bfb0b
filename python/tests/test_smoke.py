import unittest
class T(unittest.TestCase):
    def test(self):
        import hybz
