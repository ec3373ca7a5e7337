import { hubEndpoints } from '@svc/contract/hub';
import { revisedApplications } from '../../../catalog/revisions/content.ts';
import { changelogOf, feedOf } from '../../request/changelogs.ts';
import { type RequestContext, route } from '../../request/context.ts';

const objects = ({ catalog }: RequestContext) => ({ revised: revisedApplications, cached: catalog.applications });

export const getApplicationChangelog = route(
  hubEndpoints.getApplicationChangelog,
  (context, { params: { slug }, query }) => changelogOf(context, objects(context), { slug, ...query }),
);

export const getApplicationChangelogFeed = route(
  hubEndpoints.getApplicationChangelogFeed,
  (context, { params: { slug } }) => feedOf(context, objects(context), slug),
);
