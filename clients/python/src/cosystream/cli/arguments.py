"""The command line's words.

Knows: names, defaults, help. Does not know: what fits together (``plan``), what is done.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

from cosystream.address import DEFAULT_URL
from cosystream.version import __version__

_SAY_EXAMPLES = """\
examples:
  cosystream say "Hello there." --out hello.wav
  cosystream say "Hello there." --play
  my-llm "Tell me a story" | cosystream say --play
  cosystream say - --out book.opus < book.txt
  cosystream say "Hello." --out - | ffplay -nodisp -autoexit -
  cosystream say "Hello." --stats json

Text from a pipe is sent on as it arrives, so speech begins while it is still being written.
--out takes .wav, .opus, .ogg, .raw or .pcm, or - for standard output (WAV, or what --codec says).
With neither --out nor --play the speech is played if you are at a terminal and the extra is
installed; with --stats alone it is measured and thrown away.

exit codes: 0 done; 1 the server or the connection failed; 2 asked wrongly; 130 interrupted
"""

_FOR_BROWSERS = """\
examples:
  cosystream token --ttl 60 --origin https://app.example.org
  cosystream token --voice en-1 --max-characters 2000 --json
"""


_ADDING = """\
example:
  cosystream voice add me.wav --name "My voice" \\
    --transcript "Good morning, this is how I speak." --consent "my own voice"
  cosystream say "Hello." --voice "$(cosystream voice add me.wav ...)"

wav, flac, mp3 or ogg, 1 to 30 s of one person's speech, best 3 to 10, without music or noise.
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse, or end the process with help or a usage error. ``run`` is what to call."""
    parser = argparse.ArgumentParser(
        prog="cosystream", description="Speech from a cosystream server, as it is made."
    )
    parser.add_argument("--version", action="version", version=f"cosystream {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_say(commands)
    _add_voices(commands)
    _add_voice(commands)
    _add_token(commands)
    return parser.parse_args(argv)


def _add_say(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    say = commands.add_parser(
        "say",
        help="speak text: into a file, a pipe or the loudspeaker",
        description="Speak text given as an argument or through a pipe.",
        epilog=_SAY_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    say.add_argument("text", nargs="?", help="what to say; left out or -: from standard input")
    voice = say.add_argument_group("voice")
    voice.add_argument("--voice", metavar="ID", help="see `cosystream voices`")
    voice.add_argument("--speed", type=float, metavar="X", help="0.5 to 2.0 (default: 1.0)")
    voice.add_argument("--language", metavar="TAG", help="en, zh, ... (default: auto)")
    voice.add_argument("--seed", type=int, metavar="N", help="same seed, same audio")
    voice.add_argument("--instruct", metavar="TEXT", help="how to speak, where the voice can")
    _add_text(say.add_argument_group("text"))
    sound = say.add_argument_group("where to")
    sound.add_argument("--out", "-o", metavar="FILE", help="x.wav, x.opus, x.raw, or -")
    sound.add_argument("--play", action="store_true", help="play it (needs cosystream[play])")
    sound.add_argument("--output-device", metavar="NAME", help="name or number, for --play")
    sound.add_argument("--codec", choices=("opus", "pcm_s16le", "mulaw", "alaw"))
    sound.add_argument("--rate", type=int, choices=(8000, 16000, 24000, 48000))
    sound.add_argument("--bitrate", type=int, metavar="N", help="of Opus, 6000 to 256000 bit/s")
    sound.add_argument(
        "--words", metavar="FILE", help="each word and when it is heard, a JSON object a line"
    )
    shown = say.add_argument_group("what to show")
    shown.add_argument(
        "--stats",
        choices=("json", "text", "none"),
        help="json: one line on standard output, the last (default: text, on standard error)",
    )
    shown.add_argument("--no-progress", action="store_true", help="no progress bar")
    _add_server(say)
    say.set_defaults(run=_run_say)


def _add_text(text: argparse._ArgumentGroup) -> None:
    text.add_argument(
        "--say-as",
        action="append",
        default=[],
        metavar="WORD=WORDS",
        help="how a word is spoken, GIF=jif; repeatable",
    )
    text.add_argument(
        "--lexicon",
        metavar="FILE",
        help="a JSON file of that: an object of words, entries with pinyin or arpabet, or hot_fix",
    )
    text.add_argument(
        "--reasoning",
        choices=("speak", "drop"),
        help="drop: leave out what a model marks as its thoughts (default: speak)",
    )
    text.add_argument(
        "--text-mode",
        choices=("auto", "sentence", "manual", "interleaved"),
        help="sentence: never less than a sentence at once; manual: nothing before the end; "
        "interleaved: into the model in mid-sentence, where the voice can",
    )
    text.add_argument(
        "--max-delay", type=int, metavar="MS", help="speak text that has waited for so long"
    )
    text.add_argument(
        "--priority", type=int, metavar="N", help="-10 to 10, among others who are as pressed"
    )


def _add_voices(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    voices = commands.add_parser(
        "voices", help="list the voices", description="List the server's voices; * is its default."
    )
    voices.add_argument("--json", action="store_true", help="as JSON")
    _add_server(voices)
    voices.set_defaults(run=_run_list("voices"))


def _add_voice(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    voice = commands.add_parser(
        "voice",
        help="make a voice of a recording; list and remove those",
        description="Voices made of recordings: they belong to the key that made them.",
    )
    actions = voice.add_subparsers(metavar="ACTION", required=True)
    add = actions.add_parser(
        "add",
        help="make a voice of a recording",
        description="Make a voice of a recording and print its id.",
        epilog=_ADDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add.add_argument("audio", metavar="FILE", help="the recording; -: from standard input")
    add.add_argument("--name", required=True, help="for lists")
    add.add_argument(
        "--transcript", required=True, metavar="TEXT", help="what is said in it, word for word"
    )
    add.add_argument(
        "--consent", required=True, metavar="TEXT", help="whose voice it is and how they agreed"
    )
    add.add_argument("--language", metavar="TAG", help="of the recording: en, zh, ...")
    add.add_argument("--json", action="store_true", help="the whole answer")
    _add_server(add, timeout_s=120.0)
    add.set_defaults(run=_run_list("add_voice"))
    listing = actions.add_parser("list", help="list the voices made with this key")
    listing.add_argument("--json", action="store_true", help="as JSON")
    _add_server(listing)
    listing.set_defaults(run=_run_list("own_voices"))
    remove = actions.add_parser("remove", help="remove one, with its recording")
    remove.add_argument("id", metavar="ID", help="see `cosystream voice list`")
    _add_server(remove)
    remove.set_defaults(run=_run_list("remove_voice"))


def _add_token(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    token = commands.add_parser(
        "token",
        help="a pass with which a browser opens one session",
        description="Print a token with which a browser opens one session.",
        epilog=_FOR_BROWSERS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    token.add_argument("--ttl", type=int, metavar="S", help="usable for so long (default: 60)")
    token.add_argument("--origin", metavar="URL", help="from pages of this origin alone")
    token.add_argument("--voice", action="append", metavar="ID", help="for this voice; repeatable")
    token.add_argument("--max-characters", type=int, metavar="N")
    token.add_argument("--json", action="store_true", help="as JSON, with its lifetime")
    _add_server(token)
    token.set_defaults(run=_run_list("token"))


def _add_server(parser: argparse.ArgumentParser, timeout_s: float = 30.0) -> None:
    server = parser.add_argument_group("server")
    server.add_argument(
        "--url",
        default=os.environ.get("COSYSTREAM_URL", DEFAULT_URL),
        help=f"http, https, ws or wss (default: $COSYSTREAM_URL, or {DEFAULT_URL})",
    )
    server.add_argument(
        "--api-key",
        default=os.environ.get("COSYSTREAM_API_KEY"),
        metavar="KEY",
        help="default: $COSYSTREAM_API_KEY, which other users of this machine cannot see",
    )
    server.add_argument("--token", help="a token in place of a key")
    server.add_argument(
        "--timeout",
        type=float,
        default=timeout_s,
        metavar="S",
        help=f"give up when the server is silent for so long (default: {timeout_s:g})",
    )


def _run_say(arguments: argparse.Namespace) -> None:
    from cosystream.cli.say import run  # noqa: PLC0415 - asyncio and websockets, only for this

    run(arguments)


def _run_list(name: str) -> Callable[[argparse.Namespace], None]:
    """A function of ``lists``, loaded when it is called."""

    def run(arguments: argparse.Namespace) -> None:
        from cosystream.cli import lists  # noqa: PLC0415 - HTTP, only for this

        getattr(lists, name)(arguments)

    return run
