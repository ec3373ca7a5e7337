// A receiver of webhooks as a process of its own, which a test can kill. It stores each message in a file before it answers:
//
//   node receiver-process.ts <port> <file>
import fs from 'node:fs';
import { createServer } from 'node:http';

const [, , port = '', file = ''] = process.argv;
createServer(async (req, res) => {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part);
  fs.appendFileSync(file, `${JSON.stringify({ headers: req.headers, text: Buffer.concat(parts).toString() })}\n`);
  res.writeHead(204).end();
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
