import { hubEndpoints } from '@svc/contract/hub';
import { fileReply, notFound } from '@svc/http';
import { readIcon } from '../../../icons/store.ts';
import { route } from '../../request/context.ts';

/** A template without an icon, an unknown one and one that the caller cannot see give the same response. */
export const getTemplateIcon = route(
  hubEndpoints.getTemplateIcon,
  async ({ catalog, database, viewer, revision }, { params }) => {
    const id = await catalog.index.read({ viewer, revision: await revision() }, ({ entries, view }) => {
      const entry = entries.bySlug(params.slug);
      return entry && view.sees(entry) ? entry.id : undefined;
    });
    const icon = id === undefined ? undefined : await readIcon(database.client, id);
    if (!icon) throw notFound();
    return fileReply(Buffer.from(icon.data), { contentType: icon.type, etag: `"${icon.digest}"` });
  },
);
