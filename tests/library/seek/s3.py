"""An S3 server of moto on loopback, with files that s3fs has put there. Called by tests/library/seek/server.rs:

python3 s3.py packages      fails if moto or s3fs is missing
python3 s3.py FILE...       puts the files into a bucket, prints where it is, and ends with its standard input; then it
                            prints how many bytes of each file s3fs has read again, and found the same
"""

import importlib.util
import os
import sys

PACKAGES = ("moto", "flask", "s3fs")


def main(paths):
    # moto does not check keys, but boto needs some.
    os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="us-east-1")
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    there = s3fs.S3FileSystem(endpoint_url=f"http://{host}:{port}", skip_instance_cache=True)
    there.mkdir("files")
    for number, path in enumerate(paths):
        there.put_file(path, f"files/{number}")
        there.chmod(f"files/{number}", acl="public-read")
    print(f"{host}:{port}", flush=True)
    sys.stdin.read()
    for number, path in enumerate(paths):
        with open(path, "rb") as file, there.open(f"files/{number}", "rb") as remote:
            text = file.read()
            assert remote.read() == text
        print(len(text))
    server.stop()


if sys.argv[1:] == ["packages"]:
    missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    sys.exit(f"{missing[0]}" if missing else 0)
main(sys.argv[1:])
