using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Serialization.Codecs;
using Orleans.Runtime;
using IdSpanCodec = ActOp.Serialization.Codecs.IdSpanCodec;

namespace ActOp.Serialization;

/// <summary>Names and codecs of the types that need no generated code.</summary>
internal static class BuiltIn
{
    private static readonly Lock Gate = new();
    private static volatile bool s_registered;

    /// <summary>Registers everything at the first use.</summary>
    internal static void Register()
    {
        if (s_registered)
            return;
        lock (Gate)
        {
            if (s_registered)
                return;
            Values();
            Collections();
            Tuples();
            s_registered = true;
        }
    }

    private static void Values()
    {
        Add(typeof(bool), static () => new BooleanCodec());
        Add(typeof(byte), static () => new ByteCodec());
        Add(typeof(sbyte), static () => new SByteCodec());
        Add(typeof(short), static () => new Int16Codec());
        Add(typeof(ushort), static () => new UInt16Codec());
        Add(typeof(int), static () => new Int32Codec());
        Add(typeof(uint), static () => new UInt32Codec());
        Add(typeof(long), static () => new Int64Codec());
        Add(typeof(ulong), static () => new UInt64Codec());
        Add(typeof(char), static () => new CharCodec());
        Add(typeof(float), static () => new SingleCodec());
        Add(typeof(double), static () => new DoubleCodec());
        Add(typeof(decimal), static () => new DecimalCodec());
        Add(typeof(string), static () => new StringCodec());
        Add(typeof(Guid), static () => new GuidCodec());
        Add(typeof(DateTime), static () => new DateTimeCodec());
        Add(typeof(DateTimeOffset), static () => new DateTimeOffsetCodec());
        Add(typeof(DateOnly), static () => new DateOnlyCodec());
        Add(typeof(TimeOnly), static () => new TimeOnlyCodec());
        Add(typeof(TimeSpan), static () => new TimeSpanCodec());
        Add(typeof(Half), static () => new HalfCodec());
        Add(typeof(Int128), static () => new Int128Codec());
        Add(typeof(UInt128), static () => new UInt128Codec());
        Add(typeof(System.Text.Rune), static () => new RuneCodec());
        Add(typeof(System.Numerics.BigInteger), static () => new BigIntegerCodec());
        Add(typeof(Uri), static () => new UriCodec());
        Add(typeof(Version), static () => new VersionCodec());
        Add(typeof(Type), static () => new TypeCodec());
        Add(typeof(System.Globalization.CultureInfo), static () => new CultureInfoCodec());
        Add(typeof(System.Net.IPAddress), static () => new IPAddressCodec());
        Add(typeof(System.Net.IPEndPoint), static () => new IPEndPointCodec());
        Add(typeof(System.Collections.BitArray), static () => new BitArrayCodec());
        Add(typeof(System.Collections.Specialized.BitVector32), static () => new BitVector32Codec());
        Add(typeof(System.Collections.Specialized.NameValueCollection), static () => new NameValueCollectionCodec());
        Add(typeof(System.Collections.ArrayList), static () => new ArrayListCodec());
        Add(typeof(System.Collections.Hashtable), static () => new HashtableCodec());
        Add(typeof(System.Globalization.CompareInfo), static () => new CompareInfoCodec());
        Json();
        Add(typeof(GrainId), static () => new GrainIdCodec());
        Add(typeof(GrainType), static () => new GrainTypeCodec());
        Add(typeof(GrainInterfaceType), static () => new GrainInterfaceTypeCodec());
        Add(typeof(IdSpan), static () => new IdSpanCodec());
        Add(typeof(ActivationId), static () => new ActivationIdCodec());
        Add(typeof(SiloAddress), static () => new SiloAddressCodec());
        Add(typeof(GrainAddress), static () => new GrainAddressCodec());
        Add(typeof(MembershipVersion), static () => new MembershipVersionCodec());
        StreamCodecs.Add(Add);
        ReminderCodecs.Add(Add);
        foreach (var type in (ReadOnlySpan<Type>)[
            typeof(DayOfWeek), typeof(DateTimeKind), typeof(StringComparison), typeof(System.Net.HttpStatusCode)])
        {
            TypeManifest.AddType(type, type.FullName!);
        }

        Add(typeof(Orleans.GrainCancellationToken), static () => new GrainCancellationTokenCodec());
        CodecTable.Add(typeof(Calls.NoResult), static () => new NoResultCodec());
        Add(typeof(object), static () => new AnyObjectCodec<object>());
        TypeManifest.AddType(typeof(Orleans.Runtime.IAddressable), "ref");
        foreach (var type in (ReadOnlySpan<Type>)[typeof(Orleans.IGrain), typeof(Orleans.IGrainObserver),
            typeof(Orleans.IGrainWithStringKey),
            typeof(Orleans.IGrainWithIntegerKey), typeof(Orleans.IGrainWithGuidKey), typeof(Orleans.IGrainWithIntegerCompoundKey),
            typeof(Orleans.IGrainWithGuidCompoundKey), typeof(Orleans.Providers.IControllable)])
        {
            TypeManifest.AddType(type, type.FullName!);
        }

        TypeManifest.AddType(typeof(Exception), "System.Exception");
        TypeManifest.AddType(typeof(BridgedObject), BridgedObject.Name);
    }

    private static void Json()
    {
        Add(typeof(System.Text.Json.Nodes.JsonNode), static () => new JsonNodeCodec<System.Text.Json.Nodes.JsonNode>());
        Add(typeof(System.Text.Json.Nodes.JsonObject), static () => new JsonNodeCodec<System.Text.Json.Nodes.JsonObject>());
        Add(typeof(System.Text.Json.Nodes.JsonArray), static () => new JsonNodeCodec<System.Text.Json.Nodes.JsonArray>());
        Add(typeof(System.Text.Json.Nodes.JsonValue), static () => new JsonNodeCodec<System.Text.Json.Nodes.JsonValue>());
        Add(typeof(System.Text.Json.JsonElement), static () => new JsonElementCodec());
        Add(typeof(System.Text.Json.JsonDocument), static () => new JsonDocumentCodec());
    }

    private static void Collections()
    {
        Add(typeof(List<>), typeof(ListCodec<>));
        Add(typeof(HashSet<>), typeof(HashSetCodec<>));
        Add(typeof(SortedSet<>), typeof(SortedSetCodec<>));
        Add(typeof(Queue<>), typeof(QueueCodec<>));
        Add(typeof(Stack<>), typeof(StackCodec<>));
        Add(typeof(LinkedList<>), typeof(LinkedListCodec<>));
        Add(typeof(System.Collections.ObjectModel.Collection<>), typeof(CollectionCodec<>));
        Add(typeof(System.Collections.ObjectModel.ObservableCollection<>), typeof(ObservableCollectionCodec<>));
        Add(typeof(System.Collections.ObjectModel.ReadOnlyCollection<>), typeof(ReadOnlyCollectionCodec<>));
        Add(typeof(ConcurrentQueue<>), typeof(ConcurrentQueueCodec<>));
        Add(typeof(ConcurrentStack<>), typeof(ConcurrentStackCodec<>));
        // Not ConcurrentBag: the thread that adds an item keeps it, and with it whatever refers to the bag. A message could stay for ever.
        Add(typeof(ImmutableArray<>), typeof(ImmutableArrayCodec<>));
        Add(typeof(ImmutableList<>), typeof(ImmutableListCodec<>));
        Add(typeof(ImmutableHashSet<>), typeof(ImmutableHashSetCodec<>));
        Add(typeof(ImmutableSortedSet<>), typeof(ImmutableSortedSetCodec<>));
        Add(typeof(ImmutableQueue<>), typeof(ImmutableQueueCodec<>));
        Add(typeof(ImmutableStack<>), typeof(ImmutableStackCodec<>));
        Add(typeof(System.Collections.Frozen.FrozenSet<>), typeof(FrozenSetCodec<>));
        Add(typeof(System.Collections.Frozen.FrozenDictionary<,>), typeof(FrozenDictionaryCodec<,>));
        Add(typeof(System.Collections.ObjectModel.ReadOnlyObservableCollection<>), typeof(ReadOnlyObservableCollectionCodec<>));
        Add(typeof(PriorityQueue<,>), typeof(PriorityQueueCodec<,>));
        Add(typeof(IAsyncEnumerableRequest<>), typeof(EnumerableRequestCodec<>));
        Add(typeof(Nullable<>), typeof(NullableCodec<>));
        Add(typeof(Memory<>), typeof(MemoryCodec<>));
        Add(typeof(ReadOnlyMemory<>), typeof(ReadOnlyMemoryCodec<>));
        Add(typeof(ArraySegment<>), typeof(ArraySegmentCodec<>));
        Add(typeof(Orleans.Concurrency.Immutable<>), typeof(ImmutableCodec<>));
        Add(typeof(Dictionary<,>), typeof(DictionaryCodec<,>));
        Add(typeof(SortedDictionary<,>), typeof(SortedDictionaryCodec<,>));
        Add(typeof(SortedList<,>), typeof(SortedListCodec<,>));
        Add(typeof(ConcurrentDictionary<,>), typeof(ConcurrentDictionaryCodec<,>));
        Add(typeof(System.Collections.ObjectModel.ReadOnlyDictionary<,>), typeof(ReadOnlyDictionaryCodec<,>));
        Add(typeof(ImmutableDictionary<,>), typeof(ImmutableDictionaryCodec<,>));
        Add(typeof(ImmutableSortedDictionary<,>), typeof(ImmutableSortedDictionaryCodec<,>));
        Add(typeof(KeyValuePair<,>), typeof(KeyValuePairCodec<,>));
        Add(typeof(Orleans.GrainState<>), typeof(GrainStateCodec<>));
    }

    private static void Tuples()
    {
        Add(typeof(ValueTuple), static () => new EmptyTupleCodec());
        Add(typeof(ValueTuple<>), typeof(ValueTupleCodec<>));
        Add(typeof(ValueTuple<,>), typeof(ValueTupleCodec<,>));
        Add(typeof(ValueTuple<,,>), typeof(ValueTupleCodec<,,>));
        Add(typeof(ValueTuple<,,,>), typeof(ValueTupleCodec<,,,>));
        Add(typeof(ValueTuple<,,,,>), typeof(ValueTupleCodec<,,,,>));
        Add(typeof(ValueTuple<,,,,,>), typeof(ValueTupleCodec<,,,,,>));
        Add(typeof(ValueTuple<,,,,,,>), typeof(ValueTupleCodec<,,,,,,>));
        Add(typeof(Tuple<>), typeof(TupleCodec<>));
        Add(typeof(Tuple<,>), typeof(TupleCodec<,>));
        Add(typeof(Tuple<,,>), typeof(TupleCodec<,,>));
        Add(typeof(Tuple<,,,>), typeof(TupleCodec<,,,>));
        Add(typeof(Tuple<,,,,>), typeof(TupleCodec<,,,,>));
        Add(typeof(Tuple<,,,,,>), typeof(TupleCodec<,,,,,>));
        Add(typeof(Tuple<,,,,,,>), typeof(TupleCodec<,,,,,,>));
        Add(typeof(Tuple<,,,,,,,>), typeof(TupleCodec<,,,,,,,>));
        Add(typeof(ValueTuple<,,,,,,,>), typeof(ValueTupleCodec<,,,,,,,>));
    }

    private static void Add(Type type, Func<object> create)
    {
        TypeManifest.AddType(type, type.FullName!);
        CodecTable.Add(type, create);
    }

    private static void Add(Type definition, Type codecDefinition)
    {
        TypeManifest.AddType(definition, definition.FullName!);
        CodecTable.AddGeneric(definition, codecDefinition);
    }
}
