import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { API_SERVICE, CONTROL_PLANE } from './network.mjs';

const HOSTS = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
const ADDRESSES = ['127.0.0.1', CONTROL_PLANE, API_SERVICE];

/** Creates the certification authority of a cluster and its certificates in a folder. @returns the files */
export function createCertificates(folder) {
  const at = (name) => path.join(folder, name);
  const files = {
    ...{ ca: at('ca.crt'), server: at('server.crt'), serverKey: at('server.key') },
    ...{ client: at('kubelet-client.crt'), clientKey: at('kubelet-client.key'), accounts: at('service-accounts.key') },
  };
  issue(at('ca'), 'CN=ca of the test cluster', ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']);
  const names = [...HOSTS.map((name) => `DNS:${name}`), ...ADDRESSES.map((address) => `IP:${address}`)];
  const server = ['extendedKeyUsage=serverAuth', `subjectAltName=${names.join(',')}`];
  issue(at('server'), 'CN=kube-apiserver', server, at('ca'));
  // The API server uses this certificate for requests to the kubelets.
  issue(
    at('kubelet-client'),
    'O=system:masters\nCN=kube-apiserver-kubelet-client',
    ['extendedKeyUsage=clientAuth'],
    at('ca'),
  );
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(files.accounts, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  return files;
}

/** Creates the files `<name>.crt` and `<name>.key`. Without an issuer, the certificate is self-signed. */
function issue(name, subject, extensions, issuer) {
  const config = ['[req]', 'prompt=no', 'distinguished_name=dn', 'x509_extensions=extensions', '[dn]', subject];
  writeFileSync(`${name}.cnf`, [...config, '[extensions]', 'subjectKeyIdentifier=hash', ...extensions, ''].join('\n'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  const signed = issuer ? ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`] : [];
  const args = ['req', '-x509', '-config', `${name}.cnf`, '-days', '3650', ...key, '-out', `${name}.crt`, ...signed];
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
