/** The units of a Kubernetes quantity that multiply its number. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, index) => [unit, 1024 ** (index + 1)] as const),
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index) => [unit, 1000 ** (index + 1)] as const),
]);

/** The units that divide it. A division rounds `300m` to the number that `0.3` is. */
const FRACTIONS: ReadonlyMap<string, number> = new Map([
  ['m', 1e3],
  ['u', 1e6],
  ['n', 1e9],
]);

const PARTS = /^([\d.]+)(?:[eE]([+-]?\d+)|([A-Za-z]*))$/;

/** The parts of a quantity. The exponent is '' without one, and so is the unit. */
export function partsOfQuantity(quantity: string): { number: string; exponent: string; unit: string } | undefined {
  const [, number, exponent = '', unit = ''] = PARTS.exec(quantity) ?? [];
  return number === undefined ? undefined : { number, exponent, unit };
}

/** The number that a Kubernetes quantity stands for; undefined for '' and for other text. */
export function amountOf(quantity: string): number | undefined {
  const { number = '', exponent = '', unit = '' } = partsOfQuantity(quantity) ?? {};
  const fraction = FRACTIONS.get(unit);
  const amount = fraction
    ? Number(number) / fraction
    : exponent === ''
      ? Number(number) * (UNITS.get(unit) ?? Number.NaN)
      : Number(`${number}e${exponent}`);
  return number === '' || Number.isNaN(amount) ? undefined : amount;
}
