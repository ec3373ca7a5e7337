// A bare node:http server that sends the same bytes as the hub. It reads its responses by path as
// JSON from stdin, and prints its port. The head of a response is an array of names and values.
import http from 'node:http';
import { json } from 'node:stream/consumers';

const responses = new Map(
  Object.entries(await json(process.stdin)).map(([path, { head, body }]) => [path, { head, body: Buffer.from(body) }]),
);
http
  .createServer((req, res) => {
    const { head, body } = responses.get(req.url);
    res.writeHead(200, head);
    res.end(body);
  })
  .listen(0, '127.0.0.1', function () {
    console.log(this.address().port);
  });
