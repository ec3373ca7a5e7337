import { useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField, FieldError, TextField } from '../../shared/ui/controls/Field.tsx';
import { wordsOf } from '../../shared/ui/controls/pairs.ts';
import { formatCount } from '../../shared/ui/display/format.ts';
import { type FleetOutput, fleet } from '../api.ts';

/** The network types of a target, and for a host its addresses by network type. */
export interface NetworksDraft {
  readonly types: readonly string[];
  /** Further types, as the user writes them. */
  readonly others: string;
  readonly addresses: Readonly<Record<string, string>>;
}

export const firstNetworks = (
  types: readonly string[] = [],
  addresses: NetworksDraft['addresses'] = {},
): NetworksDraft => ({ types, others: '', addresses });

export const networkTypesOf = ({ types, others }: NetworksDraft): string[] => [
  ...new Set([...types, ...wordsOf(others)]),
];

/** The members of a host. An address for a type that it does not have is left out. */
export function networksBodyOf(draft: NetworksDraft) {
  const network_types = networkTypesOf(draft);
  const given = Object.entries(draft.addresses).map(([type, address]) => [type, address.trim()] as const);
  const addresses = given.filter(([type, address]) => address !== '' && network_types.includes(type));
  return { network_types, addresses: Object.fromEntries(addresses) };
}

type Proposed = FleetOutput<'checkNewHost'>['check']['addresses'];

/** The types that each fleet offers, whatever its catalog requires. */
export const usualNetworkTypes = ['mesh', 'public'];

const meanings: Readonly<Record<string, string>> = {
  mesh: t(
    'The private network between your machines, such as a VPN or the network of a site. Applications that require no network use it as well.',
  ),
  public: t('The Internet. Only applications that require it are published there.'),
};

/**
 * The network types of a target, with what each means and the number of templates that require it.
 * With `proposed`, the fields also ask for the addresses of a host: those are addresses that its
 * machine probably has.
 */
export function NetworksFields({
  draft,
  onChange,
  errorAt,
  proposed,
}: {
  readonly draft: NetworksDraft;
  readonly onChange: (draft: NetworksDraft) => void;
  readonly errorAt: (...paths: readonly string[]) => string | undefined;
  readonly proposed?: Proposed;
}) {
  const { data } = useQuery(fleet.read('listNetworkTypes'));
  const counts = new Map(data?.network_types.map(({ name, template_count }) => [name, template_count]));
  const offered = [...new Set([...usualNetworkTypes, ...counts.keys(), ...draft.types])];
  const error = errorAt('network_types');
  const { types, addresses } = draft;
  const hintOf = (type: string) => {
    const count = counts.get(type) ?? 0;
    const needed =
      count === 0
        ? t('No template requires it.')
        : t('{count} of {total, plural, one {# template requires} other {# templates require}} it.', {
            count: formatCount(count),
            total: data?.template_count ?? 0,
          });
    return [meanings[type] ?? '', data ? needed : ''].filter((part) => part !== '').join(' ');
  };
  const select = (type: string, isSelected: boolean) => {
    const [suitable] = suitableFor(type, proposed);
    const proposal = isSelected && suitable !== undefined && !addresses[type] ? { [type]: suitable } : {};
    onChange({
      ...draft,
      types: isSelected ? [...types, type] : types.filter((one) => one !== type),
      addresses: { ...addresses, ...proposal },
    });
  };
  return (
    <fieldset className="form">
      <legend className="strong">{t('Networks')}</legend>
      {offered.map((type) => (
        <div key={type} className="stack-small">
          <CheckField
            name={`network_types.${type}`}
            label={<code>{type}</code>}
            hint={hintOf(type)}
            checked={types.includes(type)}
            onChange={(isSelected) => select(type, isSelected)}
          />
          {proposed && types.includes(type) && (
            <AddressField
              type={type}
              value={addresses[type] ?? ''}
              proposed={suitableFor(type, proposed)}
              error={errorAt(`addresses.${type}`)}
              onChange={(address) => onChange({ ...draft, addresses: { ...addresses, [type]: address } })}
            />
          )}
        </div>
      ))}
      <TextField
        name="network_types.others"
        label={t('Other network types')}
        hint={t('Names of your own that workloads can require, separated by spaces.')}
        mono
        value={draft.others}
        onChange={(others) => onChange({ ...draft, others })}
      />
      {error && <FieldError text={error} />}
    </fieldset>
  );
}

/** The proposed addresses of the kind of network. A public address is never proposed for another network. */
const suitableFor = (type: string, proposed: Proposed = []): string[] =>
  proposed.filter(({ is_public }) => is_public === (type === 'public')).map(({ address }) => address);

function AddressField({
  type,
  value,
  proposed,
  error,
  onChange,
}: {
  readonly type: string;
  readonly value: string;
  readonly proposed: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (address: string) => void;
}) {
  const others = proposed.filter((address) => address !== value);
  return (
    <>
      <TextField
        name={`addresses.${type}`}
        label={t('Address for {type}', { type })}
        hint={t('An IP address of the host. Without it, only programs on the host can open the ports.')}
        placeholder="10.1.2.3"
        mono
        value={value}
        onChange={onChange}
        error={error}
      />
      {others.length > 0 && (
        <div className="row">
          <span className="muted small">{t('Addresses of the machine:')}</span>
          {others.map((address) => (
            <Button key={address} size="small" onClick={() => onChange(address)}>
              {address}
            </Button>
          ))}
        </div>
      )}
    </>
  );
}
