#!/bin/sh
# Installs NVIDIA's CUDA 13.0 compiler, without a CUDA toolkit, a GPU or root, into a directory of its own:
#
#     cuda/install-nvcc.sh target/cuda && CUDA_HOME=target/cuda cargo build --release --features cuda
#
# The compiler comes as five Python wheels (about 500 MB unpacked). All of them put their files under nvidia/cu13, which
# this script lays out as CUDA_HOME. Versions are pinned: nvcc 13.0 with headers of 13.2 does not compile.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: $0 DIRECTORY" >&2
    exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir/wheels" \
    'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-crt==13.0.*' \
    'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*'
for part in bin include lib nvvm; do
    ln -sfn "wheels/nvidia/cu13/$part" "$dir/$part"
done
ln -sfn lib "$dir/lib64"
chmod +x "$dir"/bin/* "$dir"/nvvm/bin/* 2>/dev/null || true
"$dir/bin/nvcc" --version | tail -n 2
echo "now: export CUDA_HOME=$dir"
