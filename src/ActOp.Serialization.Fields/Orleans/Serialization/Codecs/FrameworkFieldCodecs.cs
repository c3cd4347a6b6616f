using System.Collections;
using System.Collections.Specialized;
using System.Globalization;
using System.Net;
using System.Numerics;
using ActOp.Serialization.Fields.Bridging;
using Orleans.Serialization.Buffers;

namespace Orleans.Serialization.Codecs;

/// <summary>Fields of parts of arrays.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ArraySegmentCodec<T> : NativeFieldCodec<ArraySegment<T>>;

/// <summary>Copies parts of arrays.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ArraySegmentCopier<T> : NativeCopier<ArraySegment<T>>;

/// <summary>Fields of parts of arrays of bytes.</summary>
public sealed class ArraySegmentOfByteCodec : NativeFieldCodec<ArraySegment<byte>>;

/// <summary>Copies parts of arrays of bytes.</summary>
public sealed class ArraySegmentOfByteCopier : NativeCopier<ArraySegment<byte>>;

/// <summary>Fields of large numbers.</summary>
public sealed class BigIntegerCodec : NativeFieldCodec<BigInteger>;

/// <summary>Fields of bits.</summary>
public sealed class BitArrayCodec : NativeFieldCodec<BitArray>;

/// <summary>Copies bits.</summary>
public sealed class BitArrayCopier : NativeCopier<BitArray>;

/// <summary>Fields of 32 bits.</summary>
public sealed class BitVector32Codec : NativeFieldCodec<BitVector32>;

/// <summary>Copies arrays of bytes.</summary>
public sealed class ByteArrayCopier : NativeCopier<byte[]>;

/// <summary>Fields of rules of comparison.</summary>
public sealed class CompareInfoCodec : NativeFieldCodec<CompareInfo>;

/// <summary>Fields of cultures.</summary>
public sealed class CultureInfoCodec : NativeFieldCodec<CultureInfo>;

/// <summary>Fields of addresses.</summary>
public sealed class IPAddressCodec : NativeFieldCodec<IPAddress>;

/// <summary>Fields of addresses with ports.</summary>
public sealed class IPEndPointCodec : NativeFieldCodec<IPEndPoint>;

/// <summary>Fields of memory.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class MemoryCodec<T> : NativeFieldCodec<Memory<T>>;

/// <summary>Copies memory.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class MemoryCopier<T> : NativeCopier<Memory<T>>;

/// <summary>Fields of memory of bytes.</summary>
public sealed class MemoryOfByteCodec : NativeFieldCodec<Memory<byte>>;

/// <summary>Copies memory of bytes.</summary>
public sealed class MemoryOfByteCopier : NativeCopier<Memory<byte>>;

/// <summary>Fields of values that may be missing.</summary>
/// <typeparam name="T">The value.</typeparam>
public sealed class NullableCodec<T> : NativeFieldCodec<T?>
    where T : struct;

/// <summary>Copies values that may be missing.</summary>
/// <typeparam name="T">The value.</typeparam>
public sealed class NullableCopier<T> : NativeCopier<T?>
    where T : struct;

/// <summary>Fields of pooled buffers; their memory stays with whoever owns them.</summary>
public sealed class PooledBufferCodec : NativeFieldCodec<PooledBuffer>;

/// <summary>Copies pooled buffers; their memory stays with whoever owns them.</summary>
public sealed class PooledBufferCopier : NativeCopier<PooledBuffer>;

/// <summary>Fields of read-only memory.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ReadOnlyMemoryCodec<T> : NativeFieldCodec<ReadOnlyMemory<T>>;

/// <summary>Copies read-only memory.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ReadOnlyMemoryCopier<T> : NativeCopier<ReadOnlyMemory<T>>;

/// <summary>Fields of read-only memory of bytes.</summary>
public sealed class ReadOnlyMemoryOfByteCodec : NativeFieldCodec<ReadOnlyMemory<byte>>;

/// <summary>Copies read-only memory of bytes.</summary>
public sealed class ReadOnlyMemoryOfByteCopier : NativeCopier<ReadOnlyMemory<byte>>;

/// <summary>Fields of addresses of the web.</summary>
public sealed class UriCodec : NativeFieldCodec<Uri>;

/// <summary>Fields of versions.</summary>
public sealed class VersionCodec : NativeFieldCodec<Version>;
