import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

type Arguments = Readonly<Record<string, string>>;

/** A prompt with which a user can begin. */
export interface McpPrompt {
  readonly declaration: Prompt;
  /** The message to the model. */
  readonly text: (given: Arguments) => string;
}

/** @throws -32602 for an unknown prompt, and without a required argument */
export function getPrompt(prompts: readonly McpPrompt[], name: string, given: Arguments): GetPromptResult {
  const prompt = prompts.find(({ declaration }) => declaration.name === name);
  if (!prompt) {
    const known = prompts.map(({ declaration }) => declaration.name).join(', ');
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}; known: ${known || 'none'}`);
  }
  const { description, arguments: declared = [] } = prompt.declaration;
  const missing = declared.filter((argument) => argument.required === true && given[argument.name] === undefined);
  if (missing.length > 0) {
    const names = missing.map((argument) => argument.name).join(', ');
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt ${name} requires: ${names}`);
  }
  return {
    ...(description === undefined ? {} : { description }),
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
  };
}
