// @vscode/prompt-tsx, counting with the native tokenizer that the original uses. It has no `first` of this kind. Lines
// are text chunks of one message. There is no cutoff: it prunes the chunk of the lowest priority until all fits.

import { requirePeer, serve } from './worker.mjs';

const tsx = requirePeer('@vscode/prompt-tsx');
const { getTokenizer } = requirePeer('@anysphere/tiktoken-node');
const O200K = 2; // a member of a const enum, which is not there at run time
const TEXT = 1;
const MESSAGE_TOKENS = 4; // what a message costs besides its content, as in our chat format
const piece = globalThis.vscpp; // what the compiler calls for a tag

const native = getTokenizer();
const count = (text) => native.exactNumTokensNoSpecialTokens(text, O200K);
const tokenizer = {
  mode: tsx.OutputMode.Raw,
  tokenLength: (part) => (part.type === TEXT ? count(part.text) : 0),
  countMessageTokens: async ({ content }) => {
    const counts = await Promise.all(content.map(({ text }) => count(text)));
    return counts.reduce((a, b) => a + b, MESSAGE_TOKENS);
  },
};

class Root extends tsx.PromptElement {
  render() {
    return this.props.content;
  }
}

const builders = {
  lines: ({ lines }) =>
    piece(tsx.UserMessage, null, lines.map((text, i) => piece(tsx.TextChunk, { priority: i }, text))),
  chat: ({ messages }) =>
    messages.map(([role, text], i) =>
      piece(role === 'user' ? tsx.UserMessage : tsx.AssistantMessage, { priority: i }, text),
    ),
};

class Group extends tsx.PromptElement {
  render() {
    return this.props.children;
  }
}

await serve(
  (data) => {
    const content = builders[data.kind](data);
    return Array.isArray(content) ? piece(Group, null, content) : content;
  },
  async (content, { limit }) => {
    const endpoint = { modelMaxPromptTokens: limit };
    const given = await tsx.renderPrompt(
      Root, { content }, endpoint, tokenizer, undefined, undefined, tsx.OutputMode.Raw,
    );
    const text = () => given.messages.flatMap(({ content }) => content.map((part) => part.text)).join('');
    return { tokens: given.tokenCount, cutoff: null, text };
  },
);
