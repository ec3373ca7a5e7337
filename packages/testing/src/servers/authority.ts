import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The files of a certificate and its key, in PEM format. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority whose certificates OpenSSL creates. */
export interface Authority {
  /** The file of its own certificate. */
  readonly certificate: string;
  /** Issues a certificate for host names or addresses. Its common name is the first one. @param days -1: it has expired */
  issue(names: readonly string[], days?: number): Issued;
}

/** Creates an authority. @param folder an existing folder, which receives all files */
export function createAuthority(folder: string, name = 'authority'): Authority {
  const at = (file: string) => path.join(folder, file);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const own = { certificate: at(`${name}.crt`), key: at(`${name}.key`) };
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${name}`, '-keyout', own.key, '-out', own.certificate);
  let issued = 0;
  return {
    certificate: own.certificate,
    issue: (names, days = 1) => {
      issued += 1;
      const file = (ending: string) => at(`${name}-${issued}.${ending}`);
      const alternatives = names.map((each) => `${/^[\d.]+$/.test(each) ? 'IP' : 'DNS'}:${each}`);
      fs.writeFileSync(file('ext'), `subjectAltName=${alternatives.join(',')}\n`);
      openssl('req', '-new', ...newKey, '-subj', `/CN=${names[0]}`, '-keyout', file('key'), '-out', file('csr'));
      openssl(
        ...['x509', '-req', '-in', file('csr'), '-CA', own.certificate, '-CAkey', own.key, '-CAcreateserial'],
        ...['-days', `${days}`, '-extfile', file('ext'), '-out', file('crt')],
      );
      return { certificate: file('crt'), key: file('key') };
    },
  };
}
