"""Keeps a copy of the catalog of a hub in a JSON file. Usage: HUB_API_KEY=... python3 sync.py HUB_URL FILE"""

import http.client, json, os, random, sys, time, urllib.error, urllib.parse, urllib.request

PAGE_LIMIT, TIMEOUT_SECONDS, MAX_BYTES = 250, 30, 64 * 2**20
ATTEMPTS, MAX_WAIT_SECONDS = 5, 300


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # a redirect is an error: the key must not reach another address


def request_page(hub, key, copy):
    query = urllib.parse.urlencode({"cursor": copy["cursor"], "limit": PAGE_LIMIT})
    headers = {"Authorization": f"Bearer {key}", **({"If-None-Match": copy["etag"]} if copy["etag"] else {})}
    request = urllib.request.Request(f"{hub}/api/v1/catalog/templates/updates?{query}", headers=headers)
    with urllib.request.build_opener(NoRedirect).open(request, timeout=TIMEOUT_SECONDS) as response:
        body = response.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise ValueError("the page is too large")
        return json.loads(body), response.headers["ETag"]


def apply_page(copy, page, etag):
    """Returns the copy after the page. `unseen` has the ids that a full walk has not listed yet."""
    if page["has_more"] and page["cursor"] == copy["cursor"]:
        raise ValueError("the cursor does not advance")
    sent = {template["id"]: template for template in page["templates"]}
    removed = {entry["id"] for entry in page["removed"]}
    unseen = set(copy["templates"] if page["reset"] else copy["unseen"]) - set(sent)
    if not page["has_more"]:
        removed, unseen = removed | unseen, set()
    templates = {id: each for id, each in {**copy["templates"], **sent}.items() if id not in removed}
    return {"cursor": page["cursor"], "etag": etag, "unseen": sorted(unseen), "templates": templates}


def save(copy, file):
    new = f"{file}.{os.getpid()}"
    with open(new, "w", encoding="utf-8") as output:
        json.dump(copy, output)
    os.replace(new, file)  # the templates, the cursor and `unseen` change at once


def sync(hub, key, file):
    copy, failures, has_more = {"cursor": "start", "etag": None, "unseen": [], "templates": {}}, 0, True
    if os.path.exists(file):
        with open(file, encoding="utf-8") as saved:
            copy = json.load(saved)
    while has_more:
        retry_after = 0
        try:
            page, etag = request_page(hub, key, copy)
            copy, failures, has_more = apply_page(copy, page, etag), 0, page["has_more"]
        except urllib.error.HTTPError as error:
            reason = f"the hub answered {error.code}"
            if error.code == 304:
                return
            if error.code == 400 and copy["cursor"] != "start":
                copy["cursor"] = "start"  # begin a full walk, and keep the templates
                continue
            if error.code < 500 and error.code not in (408, 429):
                sys.exit(f"{reason}; the copy is unchanged")
            retry_after = int(error.headers["Retry-After"]) if (error.headers["Retry-After"] or "").isdigit() else 0
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            reason = f"no complete answer of the hub ({type(error).__name__})"
        else:
            save(copy, file)
            continue
        failures += 1
        wait = max(retry_after, random.uniform(0.5, 1) * 2**failures)
        if failures == ATTEMPTS or wait > MAX_WAIT_SECONDS:
            sys.exit(f"{reason}; the copy has the pages before it")
        time.sleep(wait)


if __name__ == "__main__":
    sync(sys.argv[1].rstrip("/"), os.environ["HUB_API_KEY"], sys.argv[2])
