/** A file of an archive. The path is absolute and in normal form. */
interface ArchivedFile {
  readonly path: string;
  readonly content: string;
  /** Octal digits, such as `0444`. */
  readonly mode: string;
}

const BLOCK = 512;
/** The longest name that the fixed field of a header holds, in bytes. */
const MAX_NAME = 100;

/** Text or octal digits in a field of a header, which ends with zeros. */
const field = (text: string, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.write(text);
  return bytes;
};

const octal = (value: number, length: number): Buffer => field(value.toString(8).padStart(length - 1, '0'), length);

interface Entry {
  readonly name: string;
  readonly mode: string;
  readonly type: '0' | 'x';
  readonly content: Buffer;
}

/**
 * An entry of a POSIX archive (IEEE Std 1003.1, `ustar`): its header, and its content in whole blocks. The owner is root, and the time
 * is 1970, so that equal files are equal bytes.
 */
function entry({ name, mode, type, content }: Entry): Buffer {
  const before = [field(name, MAX_NAME), octal(Number.parseInt(mode, 8), 8), octal(0, 8), octal(0, 8)];
  const sizes = [octal(content.length, 12), octal(0, 12)];
  const after = [field(type, 1), field('', 100), field('ustar', 6), Buffer.from('00'), field('', 247)];
  const blank = Buffer.concat([...before, ...sizes, Buffer.alloc(8, ' '), ...after]);
  const sum = blank.reduce((total, byte) => total + byte, 0);
  const checksum = field(`${sum.toString(8).padStart(6, '0')}\0 `, 8);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return Buffer.concat([...before, ...sizes, checksum, ...after, content, padding]);
}

/** A record of an extended header: its length, which counts itself, and the long name. */
function longName(name: string): Buffer {
  const rest = ` path=${name}\n`;
  const bytes = Buffer.byteLength(rest);
  const digits = String(bytes + String(bytes).length).length;
  return Buffer.from(`${bytes + digits}${rest}`);
}

/** The entries of a file. A name that is too long for the header has an extended one before it. */
function entriesOf({ path, content, mode }: ArchivedFile): Buffer[] {
  const name = path.slice(1);
  const own = entry({ name: name.slice(0, MAX_NAME), mode, type: '0', content: Buffer.from(content) });
  if (Buffer.byteLength(name) <= MAX_NAME) return [own];
  return [entry({ name: 'path', mode: '0444', type: 'x', content: longName(name) }), own];
}

/** An archive of files, as engines accept it. */
export const tarOf = (files: readonly ArchivedFile[]): Buffer =>
  Buffer.concat([...files.flatMap(entriesOf), Buffer.alloc(2 * BLOCK)]);
