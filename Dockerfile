# Two targets; `cpu` is the default.
#
#   docker build -t cosystream .
#   docker run --rm --read-only -p 8000:8000 cosystream
#
#   docker build --target cuda -t cosystream:cuda .
#   docker run --rm --read-only --gpus all -p 8000:8000 -v "$PWD/models/cosyvoice3:/model:ro" \
#     cosystream:cuda --model /model --device cuda --precision fp16
#
# Voices made of recordings are kept in a volume: add -v voices:/app/data. Everything else that it
# speaks with is in the image: it starts and speaks without a network and with a read-only root.
# Where the usual mirrors are far away:
#
#   --build-arg PYTHON_IMAGE=…     the base image, from another registry
#   --build-arg CUDA_IMAGE=…       the same for `cuda`
#   --build-arg PIP_INDEX_URL=…    a mirror of the Python package index
#   --build-arg TORCH_INDEX_URL=…  where torch comes from (`cuda` alone): the build for another CUDA, or
#                                  a mirror of the default, which needs a driver of 570 or later
#   --build-arg APT_MIRROR=…       a mirror of Ubuntu's packages (`cuda` alone), http://HOST/ubuntu

ARG PYTHON_IMAGE=python:3.12-slim-bookworm
ARG CUDA_IMAGE=nvidia/cuda:12.8.1-base-ubuntu24.04

# What runs, the same in both targets.
FROM scratch AS app
COPY server /app/server
COPY streaming /app/streaming
COPY configs /app/configs
COPY clients/web/dist /app/clients/web/dist
COPY LICENSE NOTICE /app/

# What pip needs to see of the two projects.
FROM scratch AS projects
COPY pyproject.toml constraints.txt README.md LICENSE /src/
COPY clients/python /src/clients/python

# --- CPU ----------------------------------------------------------------------------------

FROM ${PYTHON_IMAGE} AS build-cpu
ARG PIP_INDEX_URL
COPY --from=projects /src /src
WORKDIR /src
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir -c constraints.txt . ./clients/python

# --- CUDA ---------------------------------------------------------------------------------
# torch brings the CUDA libraries it was built for in its own wheels, so the image needs the
# driver's part alone; both are of CUDA 12.8. Triton launches its kernels through a little C, which
# it compiles when they are first used. A checkpoint is no part of the image: mount a folder.

FROM ${CUDA_IMAGE} AS python-cuda
ARG APT_MIRROR
RUN if [ -n "$APT_MIRROR" ]; then \
      sed -i "s|http://[^ ]*/ubuntu/\?|$APT_MIRROR/|" /etc/apt/sources.list.d/ubuntu.sources; \
    fi \
 && apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv \
      gcc libc6-dev python3-dev \
 && rm -rf /var/lib/apt/lists/*

FROM python-cuda AS build-cuda
ARG PIP_INDEX_URL
ARG TORCH_INDEX_URL=https://download.pytorch.org/whl/cu128
COPY --from=projects /src /src
WORKDIR /src
RUN python3 -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --index-url "$TORCH_INDEX_URL" 'torch>=2.11' \
 && /opt/venv/bin/pip install --no-cache-dir -c constraints.txt '.[cosyvoice]' ./clients/python

FROM python-cuda AS cuda
COPY --from=build-cuda /opt/venv /opt/venv
COPY --from=app /app /app
WORKDIR /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    COSYSTREAM__LISTEN__HOST=0.0.0.0 \
    TRITON_CACHE_DIR=/tmp/triton \
    TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
RUN python -m compileall -q server streaming \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin cosystream \
 && install -d -o cosystream -m 700 data
USER 10001
EXPOSE 8000
# Docker's stop is SIGTERM, on which the server drains; `docker stop -t 30` gives it the time.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('COSYSTREAM__LISTEN__PORT', '8000') + '/readyz', timeout=4)"]
ENTRYPOINT ["python", "-m", "server"]

# --- the default --------------------------------------------------------------------------

FROM ${PYTHON_IMAGE} AS cpu
COPY --from=build-cpu /opt/venv /opt/venv
COPY --from=app /app /app
WORKDIR /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    COSYSTREAM__LISTEN__HOST=0.0.0.0
RUN python -m compileall -q server streaming \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin cosystream \
 && install -d -o cosystream -m 700 data
USER 10001
EXPOSE 8000
# Docker's stop is SIGTERM, on which the server drains; `docker stop -t 30` gives it the time.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('COSYSTREAM__LISTEN__PORT', '8000') + '/readyz', timeout=4)"]
ENTRYPOINT ["python", "-m", "server"]
