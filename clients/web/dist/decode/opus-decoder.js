// node_modules/simple-yenc/dist/esm.js
var t = (t, n = 4294967295, e = 79764919) => {
	const r = /* @__PURE__ */ new Int32Array(256);
	let o, s, i, c = n;
	for (o = 0; o < 256; o++) {
		for (i = o << 24, s = 8; s > 0; --s) i = 2147483648 & i ? i << 1 ^ e : i << 1;
		r[o] = i;
	}
	for (o = 0; o < t.length; o++) c = c << 8 ^ r[255 & (c >> 24 ^ t[o])];
	return c;
};
var e = (n, e = t) => {
	const r = (t) => new Uint8Array(t.length / 2).map(((n, e) => parseInt(t.substring(2 * e, 2 * (e + 1)), 16))), o = (t) => r(t)[0], s = /* @__PURE__ */ new Map();
	[
		,
		8364,
		,
		8218,
		402,
		8222,
		8230,
		8224,
		8225,
		710,
		8240,
		352,
		8249,
		338,
		,
		381,
		,
		,
		8216,
		8217,
		8220,
		8221,
		8226,
		8211,
		8212,
		732,
		8482,
		353,
		8250,
		339,
		,
		382,
		376
	].forEach(((t, n) => s.set(t, n)));
	const i = new Uint8Array(n.length);
	let c, a, l, f = !1, g = 0, h = 42, p = n.length > 13 && "dynEncode" === n.substring(0, 9), u = 0;
	p && (u = 11, a = o(n.substring(9, u)), a <= 1 && (u += 2, h = o(n.substring(11, u))), 1 === a && (u += 8, l = ((t) => new DataView(r(t).buffer).getInt32(0, !0))(n.substring(13, u))));
	const d = 256 - h;
	for (let t = u; t < n.length; t++) if (c = n.charCodeAt(t), 61 !== c || f) {
		if (92 === c && t < n.length - 5 && p) {
			const e = n.charCodeAt(t + 1);
			117 !== e && 85 !== e || (c = parseInt(n.substring(t + 2, t + 6), 16), t += 5);
		}
		if (c > 255) {
			const t = s.get(c);
			t && (c = t + 127);
		}
		f && (f = !1, c -= 64), i[g++] = c < h && c > 0 ? c + d : c - h;
	} else f = !0;
	const m = i.subarray(0, g);
	if (p && 1 === a) {
		const t = e(m);
		if (t !== l) {
			const n = "Decode failed crc32 validation";
			throw console.error("`simple-yenc`\n", n + "\n", "Expected: " + l + "; Got: " + t + "\n", "Visit https://github.com/eshaz/simple-yenc for more information"), Error(n);
		}
	}
	return m;
};
// node_modules/@wasm-audio-decoders/common/src/WASMAudioDecoderCommon.js
function WASMAudioDecoderCommon() {
	const uint8Array = Uint8Array;
	const float32Array = Float32Array;
	if (!WASMAudioDecoderCommon.modules) Object.defineProperties(WASMAudioDecoderCommon, {
		modules: { value: /* @__PURE__ */ new WeakMap() },
		setModule: { value(Ref, module) {
			WASMAudioDecoderCommon.modules.set(Ref, Promise.resolve(module));
		} },
		getModule: { value(Ref, wasmString) {
			let module = WASMAudioDecoderCommon.modules.get(Ref);
			if (!module) {
				if (!wasmString) {
					wasmString = Ref.wasm;
					module = WASMAudioDecoderCommon.inflateDynEncodeString(wasmString).then((data) => WebAssembly.compile(data));
				} else module = WebAssembly.compile(e(wasmString));
				WASMAudioDecoderCommon.modules.set(Ref, module);
			}
			return module;
		} },
		concatFloat32: { value(buffers, length) {
			let ret = new float32Array(length), i = 0, offset = 0;
			while (i < buffers.length) {
				ret.set(buffers[i], offset);
				offset += buffers[i++].length;
			}
			return ret;
		} },
		getDecodedAudio: { value: (errors, channelData, samplesDecoded, sampleRate, bitDepth) => ({
			errors,
			channelData,
			samplesDecoded,
			sampleRate,
			bitDepth
		}) },
		getDecodedAudioMultiChannel: { value(errors, input, channelsDecoded, samplesDecoded, sampleRate, bitDepth) {
			let channelData = [], i, j;
			for (i = 0; i < channelsDecoded; i++) {
				const channel = [];
				for (j = 0; j < input.length;) channel.push(input[j++][i] || []);
				channelData.push(WASMAudioDecoderCommon.concatFloat32(channel, samplesDecoded));
			}
			return WASMAudioDecoderCommon.getDecodedAudio(errors, channelData, samplesDecoded, sampleRate, bitDepth);
		} },
		inflateDynEncodeString: { value(source) {
			source = e(source);
			return new Promise((resolve) => {
				const puffString = String.raw`dynEncode012804c7886d()((()>+*§§)§,§§§§)§+§§§)§+.-()(*)-+)(.7*§)i¸¸,3§(i¸¸,3/G+.¡*(,(,3+)2å:-),§H(P*DI*H(P*@I++hH)H*r,hH(H(P*<J,i)^*<H,H(P*4U((I-H(H*i0J,^*DH+H-H*I+H,I*4)33H(H*H)^*DH(H+H)^*@H+i§H)i§3æ*).§K(iHI/+§H,iHn,§H+i(H+i(rCJ0I,H*I-+hH,,hH(H-V)(i)J.H.W)(i)c)(H,i)I,H-i*I-4)33i(I.*hH(V)(H+n5(H(i*I-i(I,i)I.+hH,i*J+iHn,hi(I-i*I,+hH,H/H-c)(H,iFn,hi(I,+hH,H0n5-H*V)(J(,hH/H(i)J(H(V)(J(i)c)(H)H(i)H,c)(3H*i*I*H,i)I,4(3(-H(H,W)(H-I-H,i*I,4)3(3(3H,H-I1H+I,H.i)H1V)(J.i(v5(33H.-H(H,i(c)(H,i*I,4)333)-§i*I*+§H*iHn,hi73H,H(i)8(H+J+H)P*(H*V)(J-r,§H)P*,H.i)H+H,i)V)(-H*i*I*H+i)I+H-H.I.H,H-i)I,4)333Ã+)-§iø7i(^*(iü7I,*h+hH+iDn,h*hilI+i)I,+hH+,hH+iô7H,c)(i)H+i´8W)(H,I,H+i*I+4)-+hH(H)8*J-i(p5.*h*h*hH-i')u,hH(P*(J+,hH(P*0J,H(P*,n50H+H,H-b((3H(P*0i)I.4)3H-i¨*n5*H-iÅ*s,hi73H-i)J+V)&+I,H(H+V)æ,8(I.H(H*8*J-i(p51H-i)J+i¸7V)(H(H+iø7V)(8(J/H(P*0J+s,hi73H+H,H.J,I.H(P*(m5(H.H(P*,s5.+hH,m5*H(P*(J.H+H.H+H/U((b((H(H(P*0i)J+^*0H,i)I,4(3(3H(H.^*03H-i¨*o5)33i(73(3(3-H,H+i)c)(H,i*I,H+i)I+4)33i)I-3H-3!2)0§K(i2J,L(H,H(^*(H,H*^*4H,i(^*0H,i(^*DH,j(_*<H,H)P*(^*,H,H+P*(^*8*h*h+hH,i)8(I3i§I**h*h*h*h*h*h*hH,i*8(6+(),03H,j(_*@i*I-H,P*<J.i,J(H,P*8J/s50H,H.i+J0^*<i¦I*H.H,P*4J1J.U(*H.U((J2i')o5/H.U()I.H,H(^*<H0H1U((H.i0J.i§i0i')o5/H/H.H2J*H(J.q50H,P*0J/H*I-H,P*(J0,hH,P*,H-q,hi)I-423+hH*m5+H/H0H(H1U((b((H/i)I/H(i)I(H*i)I*4(3(3H,H.^*<H,H-^*04*3iØ1U((5+i(I(i¨7i1^*(i$6iè1^*(i°7iè6^*(i¬7iÈ6^*(+hH(iÈ*n,hiÈ*I(+hH(i¨,n,hi¨,I(+hH(iØ,n,hiØ,I(+hH(iè,o,hH,i-H(i0c)(H(i*I(4)33iè1i1H,i-iÈ*8)Bi(I(+hH(ido,hH,i-H(i-c)(H(i*I(4)33iÈ6iè6H,i-iF8)BiØ1i)b((41-H,i-H(i/c)(H(i*I(4)3(3(-H,i-H(i1c)(H(i*I(4)3(3(-H,i-H(i0c)(H(i*I(4)3(3(3H,H/^*0H,H(^*<3i(I*4*3H,H,i¸)^*TH,H,iø-^*PH,H,iX^*LH,H,i(^*HH,i-8(I(H,i-8(I-i¥I*H,i,8(I.H(iErH-iEr5)H(i©*I1H-i)I0i(i;H.i,J(i(H(i(rCJ(J*H*i;sCI*i¨1I-H(I/+hH/,hH,i-H-V)(i)H,i+8(c)(H/i)I/H-i*I-H*i)I*4)-H(i)i¨1I/+hH(H*o,hH,i-H/V)(i)i(c)(H/i*I/H(i)I(4)33i¤I*H,iø-H,i¸)H,i-i;8)5+H0H1I2i(I-+hH-H2p,hH,H,iP8*J*i(p5-H*i7u,hH,i-H-i)H*c)(H-i)I-4*3i(I/i+I.i+I(*h*h*hH*i86*(*)3H-m,hi£I*403H-i)H,W)-I/i*I(4)3i3I.i/I(3H2H,H(8(H.J(H-J.p,hi¢I*4.3H,i-H-i)I*+hH(,hH*H/c)(H*i*I*H(i)I(4)-H.I-4+3(3(33H,W)1m,hiI*4,3H,iø-H,i¸)H,i-H18)J(,hi¡I*H(i(p5,H1H,V)ú-H,V)ø-o5,3H,i(H,iXH,i-H1i)H08)J(,hi I*H(i(p5,H0H,V)H,V)o5,3H,H,iPH,iH8+I*4+3(3(3H,i$6i¬78+I*3H*H3m5(3i)I-H*i(r5)3H)H,P*0^*(H+H,P*<^*(H*I-3H,i2L(H-33Á)+(i¨03b+(,(-(.(/(0(1(2(3(5(7(9(;(?(C(G(K(S([(c(k({(((«(Ë(ë((*)(iø03O)()()()(*(*(*(*(+(+(+(+(,(,(,(,(-(-(-(-(i¨13M8(9(:(((0(/(1(.(2(-(3(,(4(+(5(*(6()(7(T7*S7US0U `;
				WASMAudioDecoderCommon.getModule(WASMAudioDecoderCommon, puffString).then((wasm) => WebAssembly.instantiate(wasm, {})).then(({ exports }) => {
					const instanceExports = new Map(Object.entries(exports));
					const puff = instanceExports.get("puff");
					const memory = instanceExports.get("memory")["buffer"];
					const dataArray = new uint8Array(memory);
					const heapView = new DataView(memory);
					let heapPos = instanceExports.get("__heap_base");
					const sourceLength = source.length;
					const sourceLengthPtr = heapPos;
					heapPos += 4;
					heapView.setInt32(sourceLengthPtr, sourceLength, true);
					const sourcePtr = heapPos;
					heapPos += sourceLength;
					dataArray.set(source, sourcePtr);
					const destLengthPtr = heapPos;
					heapPos += 4;
					heapView.setInt32(destLengthPtr, dataArray.byteLength - heapPos, true);
					puff(heapPos, destLengthPtr, sourcePtr, sourceLengthPtr);
					resolve(dataArray.slice(heapPos, heapPos + heapView.getInt32(destLengthPtr, true)));
				});
			});
		} }
	});
	Object.defineProperty(this, "wasm", {
		enumerable: true,
		get: () => this._wasm
	});
	this.getOutputChannels = (outputData, channelsDecoded, samplesDecoded) => {
		let output = [], i = 0;
		while (i < channelsDecoded) output.push(outputData.slice(i * samplesDecoded, i++ * samplesDecoded + samplesDecoded));
		return output;
	};
	this.allocateTypedArray = (len, TypedArray, setPointer = true) => {
		const ptr = this._wasm.malloc(TypedArray.BYTES_PER_ELEMENT * len);
		if (setPointer) this._pointers.add(ptr);
		return {
			ptr,
			len,
			buf: new TypedArray(this._wasm.HEAP, ptr, len)
		};
	};
	this.free = () => {
		this._pointers.forEach((ptr) => {
			this._wasm.free(ptr);
		});
		this._pointers.clear();
	};
	this.codeToString = (ptr) => {
		const characters = [], heap = new Uint8Array(this._wasm.HEAP);
		for (let character = heap[ptr]; character !== 0; character = heap[++ptr]) characters.push(character);
		return String.fromCharCode.apply(null, characters);
	};
	this.addError = (errors, message, frameLength, frameNumber, inputBytes, outputSamples) => {
		errors.push({
			message,
			frameLength,
			frameNumber,
			inputBytes,
			outputSamples
		});
	};
	this.instantiate = (_EmscriptenWASM, _module) => {
		if (_module) WASMAudioDecoderCommon.setModule(_EmscriptenWASM, _module);
		this._wasm = new _EmscriptenWASM(WASMAudioDecoderCommon).instantiate();
		this._pointers = /* @__PURE__ */ new Set();
		return this._wasm.ready.then(() => this);
	};
}
// node_modules/opus-decoder/src/EmscriptenWasm.js
function EmscriptenWASM(WASMAudioDecoderCommon) {
	var Module = Module;
	function ready() {}
	Module = {};
	/** @param {string|number=} what */ function abort(what) {
		throw what;
	}
	var HEAPU8, wasmMemory;
	function updateMemoryViews() {
		var b = wasmMemory.buffer;
		new Int8Array(b);
		new Int16Array(b);
		HEAPU8 = new Uint8Array(b);
		new Uint16Array(b);
		new Int32Array(b);
		new Uint32Array(b);
		new Float32Array(b);
		new Float64Array(b);
		new BigInt64Array(b);
		new BigUint64Array(b);
	}
	var __abort_js = () => abort("");
	var __emscripten_runtime_keepalive_clear = () => {};
	var timers = {};
	var callUserCallback = (func) => func();
	var _emscripten_get_now = () => performance.now();
	var __setitimer_js = (which, timeout_ms) => {
		if (timers[which]) {
			clearTimeout(timers[which].id);
			delete timers[which];
		}
		if (!timeout_ms) return 0;
		timers[which] = {
			id: setTimeout(() => {
				delete timers[which];
				callUserCallback(() => __emscripten_timeout(which, _emscripten_get_now()));
			}, timeout_ms),
			timeout_ms
		};
		return 0;
	};
	var _emscripten_math_cos = Math.cos;
	var _emscripten_resize_heap = (requestedSize) => {
		HEAPU8.length;
		requestedSize >>>= 0;
		return false;
	};
	var _proc_exit = (code) => {
		throw `exit(${code})`;
	};
	for (var base64ReverseLookup = /* @__PURE__ */ new Uint8Array(123), i = 25; i >= 0; --i) {
		base64ReverseLookup[48 + i] = 52 + i;
		base64ReverseLookup[65 + i] = i;
		base64ReverseLookup[97 + i] = 26 + i;
	}
	base64ReverseLookup[43] = 62;
	base64ReverseLookup[47] = 63;
	var wasmImports = {
		/** @export */ "d": __abort_js,
		/** @export */ "c": __emscripten_runtime_keepalive_clear,
		/** @export */ "e": __setitimer_js,
		/** @export */ "a": _emscripten_math_cos,
		/** @export */ "f": _emscripten_resize_heap,
		/** @export */ "b": _proc_exit
	};
	function assignWasmExports(wasmExports) {
		_opus_frame_decoder_create = wasmExports["i"];
		_malloc = wasmExports["j"];
		_opus_frame_decode_float_deinterleaved = wasmExports["k"];
		_opus_frame_decoder_destroy = wasmExports["l"];
		_free = wasmExports["m"];
		__emscripten_timeout = wasmExports["o"];
	}
	var _opus_frame_decoder_create, _malloc, _opus_frame_decode_float_deinterleaved, _opus_frame_decoder_destroy, _free, __emscripten_timeout;
	function initRuntime(wasmExports) {
		wasmExports["h"]();
	}
	var imports = { "a": wasmImports };
	this.setModule = (data) => {
		WASMAudioDecoderCommon.setModule(EmscriptenWASM, data);
	};
	this.getModule = () => WASMAudioDecoderCommon.getModule(EmscriptenWASM);
	this.instantiate = () => {
		this.getModule().then((wasm) => WebAssembly.instantiate(wasm, imports)).then((instance) => {
			const wasmExports = instance.exports;
			assignWasmExports(wasmExports);
			wasmMemory = wasmExports["g"];
			updateMemoryViews();
			initRuntime(wasmExports);
			ready();
		});
		this.ready = new Promise((resolve) => {
			ready = resolve;
		}).then(() => {
			this.HEAP = wasmMemory.buffer;
			this.malloc = _malloc;
			this.free = _free;
			this.opus_frame_decoder_create = _opus_frame_decoder_create;
			this.opus_frame_decode_float_deinterleaved = _opus_frame_decode_float_deinterleaved;
			this.opus_frame_decoder_destroy = _opus_frame_decoder_destroy;
		});
		return this;
	};
}
// node_modules/opus-decoder/src/OpusDecoder.js
function OpusDecoder(options = {}) {
	if (!OpusDecoder.errors) Object.defineProperties(OpusDecoder, { errors: { value: /* @__PURE__ */ new Map([
		[-1, "OPUS_BAD_ARG: One or more invalid/out of range arguments"],
		[-2, "OPUS_BUFFER_TOO_SMALL: Not enough bytes allocated in the buffer"],
		[-3, "OPUS_INTERNAL_ERROR: An internal error was detected"],
		[-4, "OPUS_INVALID_PACKET: The compressed data passed is corrupted"],
		[-5, "OPUS_UNIMPLEMENTED: Invalid/unsupported request number"],
		[-6, "OPUS_INVALID_STATE: An encoder or decoder structure is invalid or already freed"],
		[-7, "OPUS_ALLOC_FAIL: Memory allocation has failed"]
	]) } });
	this._init = () => new this._WASMAudioDecoderCommon(this).instantiate(this._EmscriptenWASM, this._module).then((common) => {
		this._common = common;
		this._inputBytes = 0;
		this._outputSamples = 0;
		this._frameNumber = 0;
		this._input = this._common.allocateTypedArray(this._inputSize, Uint8Array);
		this._output = this._common.allocateTypedArray(this._outputChannels * this._outputChannelSize, Float32Array);
		const mapping = this._common.allocateTypedArray(this._channels, Uint8Array);
		mapping.buf.set(this._channelMappingTable);
		this._decoder = this._common.wasm.opus_frame_decoder_create(this._sampleRate, this._channels, this._streamCount, this._coupledStreamCount, mapping.ptr, this._preSkip, this._forceStereo);
	});
	Object.defineProperty(this, "ready", {
		enumerable: true,
		get: () => this._ready
	});
	this.reset = () => {
		this.free();
		return this._init();
	};
	this.free = () => {
		this._common.free();
		this._common.wasm.opus_frame_decoder_destroy(this._decoder);
		this._common.wasm.free(this._decoder);
	};
	this._decode = (opusFrame) => {
		if (!(opusFrame instanceof Uint8Array)) throw Error("Data to decode must be Uint8Array. Instead got " + typeof opusFrame);
		this._input.buf.set(opusFrame);
		let samplesDecoded = this._common.wasm.opus_frame_decode_float_deinterleaved(this._decoder, this._input.ptr, opusFrame.length, this._output.ptr);
		let error;
		if (samplesDecoded < 0) {
			error = "libopus " + samplesDecoded + " " + (OpusDecoder.errors.get(samplesDecoded) || "Unknown Error");
			console.error(error);
			samplesDecoded = 0;
		}
		return {
			outputBuffer: this._common.getOutputChannels(this._output.buf, this._outputChannels, samplesDecoded),
			samplesDecoded,
			error
		};
	};
	this.decodeFrame = (opusFrame) => {
		let errors = [];
		const decoded = this._decode(opusFrame);
		if (decoded.error) this._common.addError(errors, decoded.error, opusFrame.length, this._frameNumber, this._inputBytes, this._outputSamples);
		this._frameNumber++;
		this._inputBytes += opusFrame.length;
		this._outputSamples += decoded.samplesDecoded;
		return this._WASMAudioDecoderCommon.getDecodedAudioMultiChannel(errors, [decoded.outputBuffer], this._outputChannels, decoded.samplesDecoded, this._sampleRate);
	};
	this.decodeFrames = (opusFrames) => {
		let outputBuffers = [], errors = [], samplesDecoded = 0, i = 0;
		while (i < opusFrames.length) {
			const opusFrame = opusFrames[i++];
			const decoded = this._decode(opusFrame);
			outputBuffers.push(decoded.outputBuffer);
			samplesDecoded += decoded.samplesDecoded;
			if (decoded.error) this._common.addError(errors, decoded.error, opusFrame.length, this._frameNumber, this._inputBytes, this._outputSamples);
			this._frameNumber++;
			this._inputBytes += opusFrame.length;
			this._outputSamples += decoded.samplesDecoded;
		}
		return this._WASMAudioDecoderCommon.getDecodedAudioMultiChannel(errors, outputBuffers, this._outputChannels, samplesDecoded, this._sampleRate);
	};
	this._isWebWorker = OpusDecoder.isWebWorker;
	this._WASMAudioDecoderCommon = OpusDecoder.WASMAudioDecoderCommon || WASMAudioDecoderCommon;
	this._EmscriptenWASM = OpusDecoder.EmscriptenWASM || EmscriptenWASM;
	this._module = OpusDecoder.module;
	const MAX_FORCE_STEREO_CHANNELS = 8;
	const isNumber = (param) => typeof param === "number";
	const sampleRate = options.sampleRate;
	const channels = options.channels;
	const streamCount = options.streamCount;
	const coupledStreamCount = options.coupledStreamCount;
	const channelMappingTable = options.channelMappingTable;
	const preSkip = options.preSkip;
	const forceStereo = options.forceStereo ? 1 : 0;
	if (channels > 2 && (!isNumber(streamCount) || !isNumber(coupledStreamCount) || !Array.isArray(channelMappingTable))) throw new Error("Invalid Opus Decoder Options for multichannel decoding.");
	this._sampleRate = [
		8e3,
		12e3,
		16e3,
		24e3,
		48e3
	].includes(sampleRate) ? sampleRate : 48e3;
	this._channels = isNumber(channels) ? channels : 2;
	this._streamCount = isNumber(streamCount) ? streamCount : 1;
	this._coupledStreamCount = isNumber(coupledStreamCount) ? coupledStreamCount : this._channels - 1;
	this._channelMappingTable = channelMappingTable || (this._channels === 2 ? [0, 1] : [0]);
	this._preSkip = preSkip || 0;
	this._forceStereo = channels <= MAX_FORCE_STEREO_CHANNELS && channels != 2 ? forceStereo : 0;
	this._inputSize = 3840 * this._channels;
	this._outputChannelSize = 5760;
	this._outputChannels = this._forceStereo ? 2 : this._channels;
	this._ready = this._init();
	return this;
}
// scripts/opus-decoder.entry.mjs
/*!
* opus-decoder (https://github.com/eshaz/wasm-audio-decoders), MIT; libopus, BSD.
* Bundled unchanged but for the WebAssembly, which is loaded from opus-decoder.wasm.
* The licences stand in opus-decoder.LICENSE.txt.
*/
export { OpusDecoder };
