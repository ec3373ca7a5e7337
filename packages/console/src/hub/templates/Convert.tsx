import { ConvertPage } from '../../shared/convert/ConvertPage.tsx';
import { t } from '../../shared/texts/texts.ts';

/** Converts a Compose file to an application. */
export default function Convert() {
  return <ConvertPage crumbs={[{ label: t('Templates'), href: '/admin/templates' }]} />;
}
