"""A stand-in of OpenML on this machine, for tests of what is fetched from there."""

import hashlib
import http.server
import json
import threading
import urllib.parse

from sklearn.datasets import _openml


class OpenMLStandIn:
    """A server on this machine that answers as OpenML does, and hands out plain files."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        self.stalled = threading.Event()
        self.going_on = threading.Event()
        answers, asked, stalled, going_on = self.answers, self.asked, self.stalled, self.going_on

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.urlparse(self.path).path
                asked.append(path)
                # older versions of scikit-learn ask for the file by its number alone
                key = path if path in answers else next((k for k in answers if k.startswith(f"{path}/")), None)
                if key is None:
                    self.send_error(500)
                    return
                body, stalls = answers[key]
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if stalls:
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    stalled.set()
                    going_on.wait(60)
                    self.close_connection = True
                else:
                    self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self):
        self.going_on.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def put(self, path, body, stalls=False):
        self.answers[path] = (body, stalls)

    def put_openml(self, number, columns, rows, *, target="class", sparse=False, md5=None, stalls=False, ignore=()):
        """`columns` maps names to "numeric", "string" or a list of words."""
        kinds = [
            f"@ATTRIBUTE {name} {'{' + ','.join(kind) + '}' if isinstance(kind, list) else kind.upper()}"
            for name, kind in columns.items()
        ]
        arff = "\n".join(["% a comment", "@RELATION r", *kinds, "@DATA", *rows]) + "\n"
        path = f"/data/v1/download/{number}/file.arff"
        self.put(path, arff.encode(), stalls)
        description = {
            "id": str(number),
            "name": "r",
            "version": "1",
            "description": "none",
            "format": "Sparse_ARFF" if sparse else "ARFF",
            "status": "active",
            "url": self.url + path,
            "file_id": str(number),
            "md5_checksum": md5 or hashlib.md5(arff.encode()).hexdigest(),
        }
        features = [
            {
                "index": str(index),
                "name": name,
                "data_type": "nominal" if isinstance(kind, list) else kind,
                "is_target": str(name == target).lower(),
                "is_ignore": str(name in ignore).lower(),
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for index, (name, kind) in enumerate(columns.items())
        ]
        qualities = [{"name": "NumberOfInstances", "value": f"{len(rows)}.0"}]
        for part, answer in (
            ("", {"data_set_description": description}),
            ("features/", {"data_features": {"feature": features}}),
            ("qualities/", {"data_qualities": {"quality": qualities}}),
        ):
            self.put(f"/api/v1/json/data/{part}{number}", json.dumps(answer).encode())


def openml_addresses(url):
    """What to set in sklearn.datasets._openml so that it asks the server at `url`, in old versions and in new ones."""
    if hasattr(_openml, "_OPENML_PREFIX"):
        return {"_OPENML_PREFIX": f"{url}/"}
    own = [name for name in vars(_openml) if name.startswith(("_DATA_", "_SEARCH_"))]
    return {name: url + urllib.parse.urlparse(getattr(_openml, name)).path for name in own}
