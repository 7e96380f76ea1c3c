"""The Mandarin preview: Chinese, with English in it, by a model that packages ship.

Text becomes words of syllables (``reading``, ``polyphones``), the tones of running speech
(``sandhi``), phonemes (``ipa``), pieces of a clause at most (``pieces``), and sound (``kokoro``).
``runner`` puts them behind the protocol of all runners. What the extra ``[mandarin]`` installs is
imported by ``reading`` and ``kokoro`` alone, when a voice is loaded.
"""
