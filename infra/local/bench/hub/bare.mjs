// The floor: a bare node:http server. It reads its bodies by path as JSON from stdin, and prints its port.
import http from 'node:http';
import { json } from 'node:stream/consumers';

const bodies = new Map(Object.entries(await json(process.stdin)).map(([path, body]) => [path, Buffer.from(body)]));
http
  .createServer((req, res) => {
    const body = bodies.get(req.url);
    res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
    res.end(body);
  })
  .listen(0, '127.0.0.1', function () {
    console.log(this.address().port);
  });
