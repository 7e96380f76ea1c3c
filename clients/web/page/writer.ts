/** Text that comes as a language model writes it: 20 tokens a second, three to five characters each. */

const TOKEN_MS = 50;

export async function* written(text: string, show: (token: string) => void): AsyncGenerator<string> {
  for (const token of tokens(text)) {
    await new Promise((resolve) => setTimeout(resolve, TOKEN_MS));
    show(token);
    yield token;
  }
}

/** Pieces as tokenizers make them: the beginnings of words with their space, then the rest; one or two Han characters. */
function tokens(text: string): string[] {
  return text.match(/\p{Script=Han}{1,2}|\s?[^\s\p{Script=Han}]{1,5}/gu) ?? [];
}
