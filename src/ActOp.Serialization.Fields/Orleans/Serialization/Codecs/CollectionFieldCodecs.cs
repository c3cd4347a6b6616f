using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using ActOp.Serialization.Fields.Bridging;

namespace Orleans.Serialization.Codecs;

/// <summary>Fields of lists of any objects.</summary>
public sealed class ArrayListCodec : NativeFieldCodec<ArrayList>;

/// <summary>Copies lists of any objects.</summary>
public sealed class ArrayListCopier : NativeCopier<ArrayList>;

/// <summary>Fields of collections.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class CollectionCodec<T> : NativeFieldCodec<Collection<T>>;

/// <summary>Copies collections.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class CollectionCopier<T> : NativeCopier<Collection<T>>;

/// <summary>Fields of queues for several threads.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ConcurrentQueueCodec<T> : NativeFieldCodec<ConcurrentQueue<T>>;

/// <summary>Copies queues for several threads.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ConcurrentQueueCopier<T> : NativeCopier<ConcurrentQueue<T>>;

/// <summary>Fields of frozen sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class FrozenSetCodec<T> : NativeFieldCodec<FrozenSet<T>>;

/// <summary>Copies frozen sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class FrozenSetCopier<T> : NativeCopier<FrozenSet<T>>;

/// <summary>Fields of sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class HashSetCodec<T> : NativeFieldCodec<HashSet<T>>;

/// <summary>Copies sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class HashSetCopier<T> : NativeCopier<HashSet<T>>;

/// <summary>Fields of immutable arrays.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableArrayCodec<T> : NativeFieldCodec<ImmutableArray<T>>;

/// <summary>Copies immutable arrays.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableArrayCopier<T> : NativeCopier<ImmutableArray<T>>;

/// <summary>Fields of immutable sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableHashSetCodec<T> : NativeFieldCodec<ImmutableHashSet<T>>;

/// <summary>Copies immutable sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableHashSetCopier<T> : NativeCopier<ImmutableHashSet<T>>;

/// <summary>Fields of immutable lists.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableListCodec<T> : NativeFieldCodec<ImmutableList<T>>;

/// <summary>Copies immutable lists.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableListCopier<T> : NativeCopier<ImmutableList<T>>;

/// <summary>Fields of immutable queues.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableQueueCodec<T> : NativeFieldCodec<ImmutableQueue<T>>;

/// <summary>Copies immutable queues.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableQueueCopier<T> : NativeCopier<ImmutableQueue<T>>;

/// <summary>Fields of immutable sorted sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableSortedSetCodec<T> : NativeFieldCodec<ImmutableSortedSet<T>>;

/// <summary>Copies immutable sorted sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableSortedSetCopier<T> : NativeCopier<ImmutableSortedSet<T>>;

/// <summary>Fields of immutable stacks.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableStackCodec<T> : NativeFieldCodec<ImmutableStack<T>>;

/// <summary>Copies immutable stacks.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ImmutableStackCopier<T> : NativeCopier<ImmutableStack<T>>;

/// <summary>Fields of queues.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class QueueCodec<T> : NativeFieldCodec<Queue<T>>;

/// <summary>Copies queues.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class QueueCopier<T> : NativeCopier<Queue<T>>;

/// <summary>Fields of read-only collections.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ReadOnlyCollectionCodec<T> : NativeFieldCodec<ReadOnlyCollection<T>>;

/// <summary>Copies read-only collections.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ReadOnlyCollectionCopier<T> : NativeCopier<ReadOnlyCollection<T>>;

/// <summary>Fields of sorted sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class SortedSetCodec<T> : NativeFieldCodec<SortedSet<T>>;

/// <summary>Copies sorted sets.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class SortedSetCopier<T> : NativeCopier<SortedSet<T>>;

/// <summary>Fields of stacks.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class StackCodec<T> : NativeFieldCodec<Stack<T>>;

/// <summary>Copies stacks.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class StackCopier<T> : NativeCopier<Stack<T>>;
