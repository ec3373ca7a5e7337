import { hubEndpoints } from '@svc/contract/hub';
import { revisedTemplates } from '../../../catalog/revisions/content.ts';
import { changelogOf, feedOf } from '../../request/changelogs.ts';
import { type RequestContext, route } from '../../request/context.ts';

const objects = ({ catalog }: RequestContext) => ({ revised: revisedTemplates, cached: catalog });

export const getChangelog = route(hubEndpoints.getChangelog, (context, { params: { slug }, query }) =>
  changelogOf(context, objects(context), { slug, ...query }),
);

export const getChangelogFeed = route(hubEndpoints.getChangelogFeed, (context, { params: { slug } }) =>
  feedOf(context, objects(context), slug),
);
