import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { t } from '../../shared/texts/texts.ts';
import { Bars } from '../../shared/ui/display/Bars.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

const SHOWN = 10;
const MAX_TEMPLATES = 100;

const figures = [
  { member: 'templates', label: t('templates'), href: '/admin/templates' },
  { member: 'categories', label: t('categories'), href: '/admin/categories' },
  { member: 'organizations', label: t('organizations'), href: '/admin/organizations' },
  { member: 'users', label: t('users'), href: '/admin/users' },
  { member: 'api_keys', label: t('API keys'), href: '/admin/keys' },
] as const;

export default function Statistics() {
  const stats = useQuery(hub.read('getStats'));
  const categories = useQuery(hub.read('listAllCategories'));
  const templates = useQuery(
    hub.read('listAllTemplates', { query: { limit: MAX_TEMPLATES, page: 1, view: 'summary' } }),
  );
  const organizations = useQuery(hub.read('listOrganizations', { query: { limit: MAX_TEMPLATES, page: 1 } }));
  const downloads = (templates.data?.templates ?? [])
    .filter(({ download_count }) => download_count > 0)
    .sort((one, other) => other.download_count - one.download_count)
    .slice(0, SHOWN)
    .map(({ slug, name, download_count }) => ({ key: slug, label: name, value: download_count }));
  const perCategory = [...(categories.data?.categories ?? [])]
    .sort((one, other) => other.template_count - one.template_count)
    .slice(0, SHOWN)
    .map(({ slug, name, template_count }) => ({ key: slug, label: name, value: template_count }));
  const members = [...(organizations.data?.organizations ?? [])]
    .sort((one, other) => other.member_count - one.member_count)
    .slice(0, SHOWN)
    .map(({ slug, name, member_count }) => ({ key: slug, label: name, value: member_count }));
  return (
    <>
      <PageHeader title={t('Statistics')} about={t('The content and the use of this hub')} />
      {stats.error && <ErrorView error={stats.error} retry={stats.refetch} />}
      {!stats.data && !stats.error && <Loading text={t('Loading the statistics…')} />}
      <div className="stack">
        {stats.data && (
          <div className="grid-small">
            {figures.map(({ member, label, href }) => (
              <Link key={member} href={href} className="panel stat">
                <span className="figure">{formatCount(stats.data[member])}</span>
                <span className="muted">{label}</span>
              </Link>
            ))}
          </div>
        )}
        <div className="columns of-three">
          <Panel title={t('Downloads by template')}>
            <Bars
              items={downloads}
              label={t('Downloads by template')}
              words={(value) => t('{count, plural, one {# download} other {# downloads}}', { count: value })}
            />
          </Panel>
          <Panel title={t('Templates by category')}>
            <Bars
              items={perCategory}
              label={t('Templates by category')}
              words={(value) => t('{count, plural, one {# template} other {# templates}}', { count: value })}
            />
          </Panel>
          <Panel title={t('Members by organization')}>
            <Bars
              items={members}
              label={t('Members by organization')}
              words={(value) => t('{count, plural, one {# member} other {# members}}', { count: value })}
            />
          </Panel>
        </div>
      </div>
    </>
  );
}
