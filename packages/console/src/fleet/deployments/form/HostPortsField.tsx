import type { Template } from '@svc/contract';
import { t } from '../../../shared/texts/texts.ts';
import { TextAreaField } from '../../../shared/ui/controls/Field.tsx';
import { pairsOf } from '../../../shared/ui/controls/pairs.ts';
import { formatList } from '../../../shared/ui/display/format.ts';

/** The ports of the host that a text requests: `53/udp=53`, one per line. */
export const hostPortsOf = (text: string): Record<string, number> =>
  Object.fromEntries(Object.entries(pairsOf(text)).map(([port, hostPort]) => [port, Number(hostPort)]));

export const textOfHostPorts = (hostPorts: Readonly<Record<string, number>>): string =>
  Object.entries(hostPorts)
    .map(([port, hostPort]) => `${port}=${hostPort}`)
    .join('\n');

/** What a template proposes, in the notation of the field. */
const proposalsOf = (ports: Template['ports']): readonly string[] =>
  ports.flatMap(({ containerPort, protocol, host_port }) =>
    host_port === undefined ? [] : [`${containerPort}/${protocol.toLowerCase()}=${host_port}`],
  );

/** The ports of the host that a deployment requests instead of allocated ones. */
export function HostPortsField({
  ports,
  value,
  error,
  onChange,
}: {
  readonly ports: Template['ports'];
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}) {
  const [first] = ports;
  const proposals = proposalsOf(ports);
  const hint = t(
    'One per line: port/protocol=port of the host. Needs one replica, and a host on which an admin has opened the port.',
  );
  return (
    <TextAreaField
      name="host_ports"
      label={t('Ports of the host')}
      hint={
        proposals.length === 0 ? hint : `${hint} ${t('The author proposes {ports}.', { ports: formatList(proposals) })}`
      }
      placeholder={
        first ? `${first.containerPort}/${first.protocol.toLowerCase()}=${first.containerPort}` : '53/udp=53'
      }
      rows={2}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
