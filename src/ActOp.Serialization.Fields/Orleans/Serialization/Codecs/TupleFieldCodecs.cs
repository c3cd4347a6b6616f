using ActOp.Serialization.Fields.Bridging;

namespace Orleans.Serialization.Codecs;

/// <summary>Fields of tuples of nothing.</summary>
public sealed class ValueTupleCodec : NativeFieldCodec<ValueTuple>;

/// <summary>Copies tuples of nothing.</summary>
public sealed class ValueTupleCopier : NativeCopier<ValueTuple>;

/// <summary>Fields of tuples of one item.</summary>
/// <typeparam name="T">The item.</typeparam>
public sealed class TupleCodec<T> : NativeFieldCodec<Tuple<T>>;

/// <summary>Copies tuples of one item.</summary>
/// <typeparam name="T">The item.</typeparam>
public sealed class TupleCopier<T> : NativeCopier<Tuple<T>>;

/// <summary>Fields of tuples of two items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
public sealed class TupleCodec<T1, T2> : NativeFieldCodec<Tuple<T1, T2>>;

/// <summary>Copies tuples of two items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
public sealed class TupleCopier<T1, T2> : NativeCopier<Tuple<T1, T2>>;

/// <summary>Fields of tuples of three items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
public sealed class TupleCodec<T1, T2, T3> : NativeFieldCodec<Tuple<T1, T2, T3>>;

/// <summary>Copies tuples of three items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
public sealed class TupleCopier<T1, T2, T3> : NativeCopier<Tuple<T1, T2, T3>>;

/// <summary>Fields of tuples of four items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
public sealed class TupleCodec<T1, T2, T3, T4> : NativeFieldCodec<Tuple<T1, T2, T3, T4>>;

/// <summary>Copies tuples of four items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
public sealed class TupleCopier<T1, T2, T3, T4> : NativeCopier<Tuple<T1, T2, T3, T4>>;

/// <summary>Fields of tuples of five items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
public sealed class TupleCodec<T1, T2, T3, T4, T5> : NativeFieldCodec<Tuple<T1, T2, T3, T4, T5>>;

/// <summary>Copies tuples of five items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
public sealed class TupleCopier<T1, T2, T3, T4, T5> : NativeCopier<Tuple<T1, T2, T3, T4, T5>>;

/// <summary>Fields of tuples of six items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
public sealed class TupleCodec<T1, T2, T3, T4, T5, T6> : NativeFieldCodec<Tuple<T1, T2, T3, T4, T5, T6>>;

/// <summary>Copies tuples of six items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
public sealed class TupleCopier<T1, T2, T3, T4, T5, T6> : NativeCopier<Tuple<T1, T2, T3, T4, T5, T6>>;

/// <summary>Fields of tuples of seven items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
public sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7> : NativeFieldCodec<Tuple<T1, T2, T3, T4, T5, T6, T7>>;

/// <summary>Copies tuples of seven items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
public sealed class TupleCopier<T1, T2, T3, T4, T5, T6, T7> : NativeCopier<Tuple<T1, T2, T3, T4, T5, T6, T7>>;

/// <summary>Fields of tuples of seven items and a tuple of more.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
/// <typeparam name="T8">The rest.</typeparam>
public sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7, T8> : NativeFieldCodec<Tuple<T1, T2, T3, T4, T5, T6, T7, T8>>
    where T8 : notnull;

/// <summary>Copies tuples of seven items and a tuple of more.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
/// <typeparam name="T8">The rest.</typeparam>
public sealed class TupleCopier<T1, T2, T3, T4, T5, T6, T7, T8> : NativeCopier<Tuple<T1, T2, T3, T4, T5, T6, T7, T8>>
    where T8 : notnull;

/// <summary>Fields of tuples that are values of one item.</summary>
/// <typeparam name="T">The item.</typeparam>
public sealed class ValueTupleCodec<T> : NativeFieldCodec<ValueTuple<T>>;

/// <summary>Copies tuples that are values of one item.</summary>
/// <typeparam name="T">The item.</typeparam>
public sealed class ValueTupleCopier<T> : NativeCopier<ValueTuple<T>>;

/// <summary>Fields of tuples that are values of two items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
public sealed class ValueTupleCodec<T1, T2> : NativeFieldCodec<ValueTuple<T1, T2>>;

/// <summary>Copies tuples that are values of two items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
public sealed class ValueTupleCopier<T1, T2> : NativeCopier<ValueTuple<T1, T2>>;

/// <summary>Fields of tuples that are values of three items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3> : NativeFieldCodec<ValueTuple<T1, T2, T3>>;

/// <summary>Copies tuples that are values of three items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3> : NativeCopier<ValueTuple<T1, T2, T3>>;

/// <summary>Fields of tuples that are values of four items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3, T4> : NativeFieldCodec<ValueTuple<T1, T2, T3, T4>>;

/// <summary>Copies tuples that are values of four items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3, T4> : NativeCopier<ValueTuple<T1, T2, T3, T4>>;

/// <summary>Fields of tuples that are values of five items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3, T4, T5> : NativeFieldCodec<ValueTuple<T1, T2, T3, T4, T5>>;

/// <summary>Copies tuples that are values of five items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3, T4, T5> : NativeCopier<ValueTuple<T1, T2, T3, T4, T5>>;

/// <summary>Fields of tuples that are values of six items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6> : NativeFieldCodec<ValueTuple<T1, T2, T3, T4, T5, T6>>;

/// <summary>Copies tuples that are values of six items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3, T4, T5, T6> : NativeCopier<ValueTuple<T1, T2, T3, T4, T5, T6>>;

/// <summary>Fields of tuples that are values of seven items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6, T7> : NativeFieldCodec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>;

/// <summary>Copies tuples that are values of seven items.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3, T4, T5, T6, T7> : NativeCopier<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>;

/// <summary>Fields of tuples that are values of seven items and a tuple of more.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
/// <typeparam name="T8">The rest.</typeparam>
public sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6, T7, T8> : NativeFieldCodec<ValueTuple<T1, T2, T3, T4, T5, T6, T7, T8>>
    where T8 : struct;

/// <summary>Copies tuples that are values of seven items and a tuple of more.</summary>
/// <typeparam name="T1">Item 1.</typeparam>
/// <typeparam name="T2">Item 2.</typeparam>
/// <typeparam name="T3">Item 3.</typeparam>
/// <typeparam name="T4">Item 4.</typeparam>
/// <typeparam name="T5">Item 5.</typeparam>
/// <typeparam name="T6">Item 6.</typeparam>
/// <typeparam name="T7">Item 7.</typeparam>
/// <typeparam name="T8">The rest.</typeparam>
public sealed class ValueTupleCopier<T1, T2, T3, T4, T5, T6, T7, T8> : NativeCopier<ValueTuple<T1, T2, T3, T4, T5, T6, T7, T8>>
    where T8 : struct;
