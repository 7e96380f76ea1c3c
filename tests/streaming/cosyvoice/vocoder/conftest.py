import pytest
from vocoder_streams import filled

from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3


@pytest.fixture(scope="session")
def v3() -> VocoderV3:
    return filled(VocoderV3)


@pytest.fixture(scope="session")
def v2() -> VocoderV2:
    return filled(VocoderV2)
