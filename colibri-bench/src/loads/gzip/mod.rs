//! The load `gzip`: each text becomes a gzip file of its own (RFC 1951 and 1952), by hash chains and dynamic Huffman codes.
//!
//! It is the part of a compressor that takes the time, written as anybody would write it. What depends on the size of an
//! alphabet only (code lengths, headers) is done in one go: some µs.

mod bits;
mod huffman;
mod matches;

use std::sync::Arc;

use self::bits::Bits;
use self::huffman::{Codes, DISTANCES, END_OF_BLOCK, LITERALS};
use self::matches::{
    BLOCK_TOKENS, CHAIN_MAX, Chains, MATCH_MAX, MATCH_MIN, NOWHERE, Token, WINDOW, chain_of,
};
use super::{Bulk, Done, Lookup, fingerprint, forms};
use crate::executors::Executor;
use crate::input::Corpus;
use crate::report::{count, digits};

/// Begins a gzip file: deflate, no name, no time, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

macro_rules! gzip {
    ([$($fn:tt)*] { $($generics:tt)* } { $($pass:tt)* } { $($await:tt)* } { $($start:tt)* } { $($tick:tt)* } { $($short:tt)* }) => {
        /// Compresses all of `corpus`.
        $($fn)* compress<$($generics)*>(corpus: Arc<Corpus>) -> Done {
            let mut done = Done { items: 0, bytes: 0, fingerprint: 0 };
            let mut chains = Chains::new();
            let mut file = Vec::new();
            for text in corpus.documents() {
                file.clear();
                done.items += write::<$($pass)*>(text.as_bytes(), &mut chains, &mut file) $($await)*;
                done.bytes += file.len() as u64;
                done.fingerprint = done.fingerprint.rotate_left(7) ^ fingerprint(&file[file.len() - 8..]);
            }
            done
        }

        /// Writes `text` as a gzip file to the end of `file`, and returns the number of tokens.
        $($fn)* write<$($generics)*>(text: &[u8], chains: &mut Chains, file: &mut Vec<u8>) -> u64 {
            file.extend_from_slice(&HEADER);
            chains.clear();
            let mut tokens = vec![Token::default(); BLOCK_TOKENS];
            let mut bits = Bits::new(file);
            let mut count = 0;
            let mut at = 0;
            let mut crc = !0;
            loop {
                let Chains { newest, before } = chains;
                let (end, used) = tokenise::<$($pass)*>(text, at, newest, before, &mut tokens) $($await)*;
                crc = checksum::<$($pass)*>(&text[at..end], crc) $($await)*;
                at = end;
                count += used as u64;
                put_block::<$($pass)*>(&tokens[..used], at == text.len(), &mut bits) $($await)*;
                if at == text.len() {
                    break;
                }
            }
            bits.finish();
            file.extend_from_slice(&(!crc).to_le_bytes());
            file.extend_from_slice(&(text.len() as u32).to_le_bytes());
            count
        }

        /// Cuts `text` from `at` on into literals and matches, until `tokens` are full or the text is over. Returns where it
        /// stopped, and how many tokens there are. `newest` and `before` are those of [`Chains`].
        $($fn)* tokenise<$($generics)*>(
            text: &[u8],
            mut at: usize,
            newest: &mut [u32],
            before: &mut [u32],
            tokens: &mut [Token],
        ) -> (usize, usize) {
            $($start)*
            let mut count = 0;
            while at < text.len() && count < tokens.len() {
                $($tick)*
                let reach = (text.len() - at).min(MATCH_MAX);
                let mut length = 0;
                let mut distance = 0;
                if reach >= MATCH_MIN {
                    let mut place = newest[chain_of(text, at)] as usize;
                    let mut tries = 0;
                    // At most 16 places with 258 bytes each.
                    $($short)*
                    while at.wrapping_sub(place) < WINDOW && tries < CHAIN_MAX && length < reach {
                        let mut same = 0;
                        while same < reach && text[place + same] == text[at + same] {
                            same += 1;
                        }
                        if same > length {
                            length = same;
                            distance = at - place;
                        }
                        let next = before[place % WINDOW] as usize;
                        // A slot that was used again since leads to a place that is no older.
                        place = if next < place { next } else { NOWHERE };
                        tries += 1;
                    }
                }
                let end = if length >= MATCH_MIN {
                    tokens[count] = Token::of_match(length, distance);
                    at + length
                } else {
                    tokens[count] = Token::of_literal(text[at]);
                    at + 1
                };
                count += 1;
                $($short)*
                while at < end {
                    if text.len() - at >= MATCH_MIN {
                        let chain = chain_of(text, at);
                        before[at % WINDOW] = newest[chain];
                        newest[chain] = at as u32;
                    }
                    at += 1;
                }
            }
            (at, count)
        }

        /// Writes a block of `tokens` in codes of their own.
        $($fn)* put_block<$($generics)*>(tokens: &[Token], is_last: bool, bits: &mut Bits<'_>) {
            $($start)*
            let mut literals = [0_u32; LITERALS];
            let mut distances = [0_u32; DISTANCES];
            literals[END_OF_BLOCK] = 1;
            for &token in tokens {
                $($tick)*
                literals[token.symbol()] += 1;
                if let Some(distance) = token.distance() {
                    distances[distance.symbol] += 1;
                }
            }
            let codes = Codes::of(&literals, &distances);
            codes.put_header(is_last, bits);
            for &token in tokens {
                $($tick)*
                codes.put_literal(token.symbol(), bits);
                if let Some(distance) = token.distance() {
                    bits.put(token.length_extra().0, token.length_extra().1);
                    codes.put_distance(distance.symbol, bits);
                    bits.put(distance.extra, distance.extra_bits);
                }
            }
            codes.put_literal(END_OF_BLOCK, bits);
        }

        /// The CRC-32 register after `bytes`.
        $($fn)* checksum<$($generics)*>(bytes: &[u8], mut crc: u32) -> u32 {
            for &byte in bytes {
                crc = CRC[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
            }
            crc
        }
    };
}
forms!(gzip);

/// What each byte does to the CRC-32 register.
const CRC: [u32; 256] = {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { POLYNOMIAL ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The load.
#[derive(Debug)]
pub(crate) struct Gzip;

impl Bulk for Gzip {
    const NAME: &'static str = "gzip";
    const SCENARIO: &'static str = "latency-gzip";
    const ABOUT: &'static str = "compresses each file to a gzip file";

    fn plain<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        plain::compress(corpus)
    }

    async fn cooperative<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        cooperative::compress(corpus).await
    }

    async fn consuming<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        consuming::compress(corpus).await
    }

    async fn yielding<E: Executor, I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        yielding::compress::<E>(corpus).await
    }

    fn say(corpus: &Corpus, done: &Done, _: usize) -> String {
        format!(
            "{} MB are left, {} % ({} tokens)",
            digits(done.bytes as f64 / 1e6),
            digits(100.0 * done.bytes as f64 / corpus.bytes() as f64),
            count(done.items)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::random::SplitMix64;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        plain::write(text, &mut Chains::new(), &mut file);
        file
    }

    /// Compresses `text`; the decoder, which checks the checksum and the length too, has to give it back.
    fn round_trip(text: &[u8]) -> usize {
        let file = compressed(text);
        let mut back = Vec::new();
        GzDecoder::new(&*file).read_to_end(&mut back).expect("it is a gzip file");
        assert!(back == text, "{} bytes came back as {}", text.len(), back.len());
        file.len()
    }

    #[test]
    fn a_decompressor_gives_the_texts_back() {
        let source = include_str!("mod.rs").as_bytes();
        assert!(round_trip(source) < source.len() / 2);
        for short in [&b""[..], b"a", b"ab", b"aaa", b"abcabcabcabc"] {
            round_trip(short);
        }
        assert!(round_trip(&[7; 200_000]) < 1_000);
        // More than one block, and matches as far back as the window allows.
        let long: Vec<u8> = source.iter().copied().cycle().take(400_000).collect();
        assert!(round_trip(&long) < long.len() / 20);
    }

    #[test]
    fn a_decompressor_gives_noise_back() {
        let mut random = SplitMix64::new(5);
        let noise: Vec<u8> = (0..100_000).map(|_| random.next() as u8).collect();
        round_trip(&noise);
        // Few letters with repeats at all distances; and counts that would make a code longer than 15 bits.
        let letters: Vec<u8> = (0..150_000).map(|_| b"ab cd"[random.below(5)]).collect();
        round_trip(&letters);
        let mut skewed = Vec::new();
        let (mut count, mut next) = (1, 1);
        for byte in 0..24_u8 {
            for _ in 0..count {
                skewed.extend_from_slice(&[byte, 100 + random.below(150) as u8]);
            }
            (count, next) = (next, count + next);
            if skewed.len() > 200_000 {
                break;
            }
        }
        round_trip(&skewed);
    }

    #[test]
    fn matches_lie_within_the_window() {
        let mut random = SplitMix64::new(9);
        let noise: Vec<u8> = (0..40_000).map(|_| random.next() as u8).collect();
        let text = [&noise[..], &noise].concat(); // each piece comes again, but too far off
        let Chains { mut newest, mut before } = Chains::new();
        let mut tokens = vec![Token::default(); text.len()];
        let (end, used) = plain::tokenise(&text, 0, &mut newest, &mut before, &mut tokens);
        assert_eq!(end, text.len());
        assert!(used > 79_000, "{used}: hardly anything comes again within the window");
        // And all that comes again within it is found, as far as the longest match reaches.
        let near = [&noise[..30_000], &noise[..30_000]].concat();
        let (_, used) =
            plain::tokenise(&near, 0, &mut Chains::new().newest, &mut Chains::new().before, &mut tokens);
        assert!((30_000..30_300).contains(&used), "{used}");
    }

    #[test]
    fn the_same_chains_serve_text_after_text() {
        let mut chains = Chains::new();
        for text in ["first text, first text", "second text, first text"] {
            let mut file = Vec::new();
            plain::write(text.as_bytes(), &mut chains, &mut file);
            assert_eq!(file, compressed(text.as_bytes()));
        }
    }
}
