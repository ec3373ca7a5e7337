import { useQuery } from '@tanstack/react-query';
import { labelOfMember } from '../../shared/catalog/member-labels.ts';
import { t } from '../../shared/texts/texts.ts';
import { Diff } from '../../shared/ui/display/Diff.tsx';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { hub } from '../api.ts';

interface MemberChange {
  readonly member: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A text with more characters is compared by lines. */
const SHORT = 200;

const wordsOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : textOf(value);
};

/** The members that differ between two contents of a template or an application, side by side. */
export function MemberChanges({ changes }: { readonly changes: readonly MemberChange[] }) {
  const categories = useQuery(hub.read('listAllCategories'));
  const organizations = useQuery(hub.read('listOrganizations'));
  const names = new Map([
    ...(categories.data?.categories ?? []).map(({ id, name }) => [id, name] as const),
    ...(organizations.data?.organizations ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  const shown = (value: unknown) => names.get(String(value)) ?? wordsOf(value);
  if (changes.length === 0) return <p className="muted">{t('No differences.')}</p>;
  return (
    <Table
      label={t('Differences')}
      columns={[{ label: t('Member') }, { label: t('Before') }, { label: t('After') }]}
      className="compared"
    >
      {changes.map(({ member, before, after }) => {
        const [first, second] = [shown(before), shown(after)];
        const isLong = Math.max(first.length, second.length) > SHORT;
        return (
          <tr key={member}>
            <th scope="row">{labelOfMember(member)}</th>
            {isLong ? (
              <td colSpan={2}>
                <Diff label={labelOfMember(member)} before={first} after={second} />
              </td>
            ) : (
              <>
                <td className="before">
                  <bdi>{first}</bdi>
                </td>
                <td className="after">
                  <bdi>{second}</bdi>
                </td>
              </>
            )}
          </tr>
        );
      })}
    </Table>
  );
}
