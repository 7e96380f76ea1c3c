"""Messages to the engine while a voice is being prepared: kept, in order, none lost."""

from streaming.engine.gate import Gate
from streaming.messages import Cancel, End, Open

MESSAGES = [Open(ctx=1, voice="v"), End(ctx=1), Cancel(ctx=1)]


def test_nothing_passes_before_it_is_opened_and_then_all_in_order():
    passed = []
    gate = Gate(passed.append)
    gate(MESSAGES[0])
    gate(MESSAGES[1])
    assert passed == []
    gate.open()
    gate(MESSAGES[2])
    assert passed == MESSAGES


def test_what_comes_while_it_is_being_opened_comes_last():
    passed = []

    def send(message):
        passed.append(message)
        if len(passed) == 1:
            gate(MESSAGES[2])

    gate = Gate(send)
    gate(MESSAGES[0])
    gate(MESSAGES[1])
    gate.open()
    assert passed == MESSAGES


def test_opening_twice_sends_nothing_twice():
    passed = []
    gate = Gate(passed.append)
    gate(MESSAGES[0])
    gate.open()
    gate.open()
    assert passed == MESSAGES[:1]
