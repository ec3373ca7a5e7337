import {
  Archive,
  Box,
  ChartSpline,
  Cpu,
  Database,
  Image,
  KeyRound,
  Layers,
  type LucideIcon,
  Notebook,
  Radar,
  Workflow,
} from 'lucide-react';

/** The icons that a category can name. Others have the icon of a box. */
const icons: Readonly<Record<string, LucideIcon>> = {
  archive: Archive,
  chart: ChartSpline,
  cpu: Cpu,
  database: Database,
  image: Image,
  key: KeyRound,
  layers: Layers,
  notebook: Notebook,
  vector: Radar,
  workflow: Workflow,
};

export const categoryIcons = Object.keys(icons);

export function CategoryIcon({ name, size = 20 }: { readonly name: string; readonly size?: number }) {
  const Icon = icons[name] ?? Box;
  return <Icon size={size} aria-hidden />;
}
