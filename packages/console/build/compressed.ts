import { Buffer } from 'node:buffer';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const MIN_BYTES = 512;

/**
 * Adds a `.br` and a `.gz` to each file that compression makes smaller. The service sends these
 * files and compresses nothing.
 */
export const compressed = (): Plugin => ({
  name: 'compressed',
  apply: 'build',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        if (bytes.length < MIN_BYTES) continue;
        for (const [extension, source] of Object.entries(variantsOf(bytes))) {
          if (source.length < bytes.length) {
            this.emitFile({ type: 'asset', fileName: `${fileName}.${extension}`, source });
          }
        }
      }
    },
  },
});

const variantsOf = (bytes: Buffer) => ({
  br: brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  }),
  gz: gzipSync(bytes, { level: 9 }),
});
