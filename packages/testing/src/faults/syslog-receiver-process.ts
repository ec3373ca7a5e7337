// A receiver of syslog as a process of its own, which a test can kill. It stores each message in a file
// before it reads more:
//
//   node syslog-receiver-process.ts <port> <certificate> <key> <file>
import fs from 'node:fs';
import { startSyslogReceiver } from '../servers/syslog-receiver.ts';

const [, , port = '', certificate = '', key = '', file = ''] = process.argv;
await startSyslogReceiver({
  issued: { certificate, key },
  port: Number(port),
  onMessage: (message) => fs.appendFileSync(file, `${message}\n`),
});
console.log('listening');
