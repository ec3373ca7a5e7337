/** The host and the port of an address. An IPv6 address has no brackets. */
export function partsOf(address: string): { readonly host: string; readonly port: string } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: address.slice(at + 1) };
}

/** Whether a host name or an address is that of the machine itself. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || /^127\.\d/.test(host) || /^\[?::1\]?$/.test(host);

type Command = (host: string, port: string) => string;

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** Programs that connect to a service, by the port that it usually has in its container. */
const clients: Readonly<Record<number, Command>> = {
  22: (host, port) => `ssh -p ${port} ${host}`,
  1883: (host, port) => `mosquitto_sub -h ${host} -p ${port} -t '#'`,
  3306: (host, port) => `mysql -h ${host} -P ${port} -u root -p`,
  4222: (host, port) => `nats rtt -s nats://${bracketed(host)}:${port}`,
  5432: (host, port) => `psql -h ${host} -p ${port} -U postgres`,
  6379: (host, port) => `redis-cli -h ${host} -p ${port}`,
  9092: (host, port) => `kcat -b ${bracketed(host)}:${port} -L`,
  27017: (host, port) => `mongosh mongodb://${bracketed(host)}:${port}`,
};

/** The ports on which web servers use TLS. */
const TLS_PORTS: readonly number[] = [443, 8443];

/** How a web server usually responds at a port of its container; undefined if another kind of service usually has the port. */
export const webSchemeOf = (port: number): 'http' | 'https' | undefined =>
  clients[port] ? undefined : TLS_PORTS.includes(port) ? 'https' : 'http';

/** A command that connects to an address, or shows that its port is open. */
export function clientCommand({
  address,
  container_port,
  protocol,
}: {
  readonly address: string;
  readonly container_port: number;
  readonly protocol: string;
}): string | undefined {
  const { host, port } = partsOf(address);
  if (protocol === 'UDP') return `nc -vzu ${host} ${port}`;
  if (protocol !== 'TCP') return undefined;
  return clients[container_port]?.(host, port) ?? `nc -vz ${host} ${port}`;
}
