import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';

/** An application of the catalog as a row of the mirror, and its document after a change of the image. */
export function catalogApplication(slug: string, given: object = {}) {
  const { category_id, category_slug, category_name, category_icon, created_at, updated_at } = aTemplate({ slug });
  const id = randomUUID();
  const common = {
    id,
    slug,
    name: slug,
    category_id,
    category_slug,
    category_name,
    category_icon,
    created_at,
    updated_at,
  };
  const documentOf = (image_tag: string) => ({
    ...JSON.parse(JSON.stringify({ ...common, download_count: 0, inputs: [], generated: [{ name: 'password' }] })),
    parts: [
      { name: 'web', image_name: 'team/web', image_tag, env: [{ name: 'PASSWORD', value: `\${generated.password}` }] },
    ],
    ...given,
  });
  const document = documentOf('1');
  const columns = { id, slug, category_id, category_slug, is_featured: false, search_text: '', sort_name: slug };
  const sizes = { document_bytes: 1000, summary_bytes: 1000 };
  return {
    rows: { ...columns, ...sizes, updated_at: new Date(), document, summary: document },
    changed: documentOf('2'),
  };
}
