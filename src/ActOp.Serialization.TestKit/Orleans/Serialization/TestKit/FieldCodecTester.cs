using System.Buffers;
using System.IO.Pipelines;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Buffers.Adaptors;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;
using Orleans.Serialization.Utilities;
using Xunit;

namespace Orleans.Serialization.TestKit;

/// <summary>Tests of a codec. The values come from the class that derives from this one.</summary>
/// <typeparam name="TValue">What the codec writes.</typeparam>
/// <typeparam name="TCodec">The codec; an interface or an abstract class needs <see cref="CreateCodec"/>.</typeparam>
[Trait("Category", "BVT")]
public abstract class FieldCodecTester<TValue, TCodec> : SerializationTester<TValue>
    where TCodec : class, IFieldCodec<TValue>
{
    private const int Room = 10_000;

    /// <summary>Makes the services of one test.</summary>
    protected FieldCodecTester(ITestOutputHelper output)
        : base(output, typeof(TCodec), static options => options.FieldCodecs.Add(typeof(TCodec))) =>
        SessionPool = ServiceProvider.GetRequiredService<SerializerSessionPool>();

    /// <summary>The sessions of the services.</summary>
    protected SerializerSessionPool SessionPool { get; }

    /// <summary>The lengths of the segments that values are read from.</summary>
    protected virtual int[] MaxSegmentSizes => [1, 4, 16];

    /// <summary>Writing and reading a field counts one object or more, and both sides count alike.</summary>
    [Fact]
    public void CorrectlyAdvancesReferenceCounter()
    {
        foreach (var value in Values())
        {
            using var writing = SessionPool.GetSession();
            var bytes = Written(value, writing);
            var written = writing.ReferencedObjects.CurrentReferenceId;
            Assert.True(written > 0, "A codec must call MarkValueField, TryWriteReferenceField or RecordObject for each value.");
            using var reading = SessionPool.GetSession();
            var reader = Reader.Create(bytes, reading);
            CreateCodec().ReadValue(ref reader, reader.ReadFieldHeader());
            Assert.Equal(written, reading.ReferencedObjects.CurrentReferenceId);
        }
    }

    /// <summary>The same through a stream.</summary>
    [Fact]
    public void CorrectlyAdvancesReferenceCounterStream()
    {
        foreach (var value in Values())
        {
            var stream = new MemoryStream();
            using var writing = SessionPool.GetSession();
            var writer = Writer.Create(stream, writing);
            CreateCodec().WriteField(ref writer, 0, typeof(TValue), value);
            writer.Commit();
            stream.Position = 0;
            using var reading = SessionPool.GetSession();
            var reader = Reader.Create(stream, reading);
            CreateCodec().ReadValue(ref reader, reader.ReadFieldHeader());
            Assert.Equal(stream.Length, reader.Position);
            Assert.Equal(writing.ReferencedObjects.CurrentReferenceId, reading.ReferencedObjects.CurrentReferenceId);
        }
    }

    /// <summary>Through an array whose length is not that of the value.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_Array() => ViaSerializer(static (serializer, value) =>
    {
        var bytes = new byte[Room];
        serializer.Serialize(value, bytes);
        Assert.Equal(serializer.SerializeToArray(value), bytes.AsSpan(0, serializer.SerializeToArray(value).Length).ToArray());
        return serializer.Deserialize(bytes);
    });

    /// <summary>Through a memory.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_Memory() => ViaSerializer(static (serializer, value) =>
    {
        var memory = new Memory<byte>(new byte[Room]);
        serializer.Serialize(value, ref memory);
        return serializer.Deserialize((ReadOnlyMemory<byte>)memory);
    });

    /// <summary>Through a span.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_Span() => ViaSerializer(static (serializer, value) =>
    {
        var span = new byte[Room].AsSpan();
        serializer.Serialize(value, ref span);
        return serializer.Deserialize((ReadOnlySpan<byte>)span);
    });

    /// <summary>Through a stream of memory.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_MemoryStream() => ViaSerializer(static (serializer, value) =>
    {
        var stream = new MemoryStream();
        serializer.Serialize(value, stream);
        stream.Position = 0;
        return serializer.Deserialize(stream);
    });

    /// <summary>Through a stream that is not in memory, for all that the serializer knows.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_Stream() => ViaSerializer((serializer, value) =>
    {
        var stream = new MemoryStream();
        using (var session = SessionPool.GetSession())
            serializer.Serialize(value, new BufferedStream(stream), session);
        using (var buffered = new BufferedStream(stream))
        {
            serializer.Serialize(value, buffered);
            buffered.Flush();
            stream.Position = 0;
            return serializer.Deserialize(new BufferedStream(stream));
        }
    });

    /// <summary>Through a stream by a pooled array.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_StreamPooled() => ViaSerializer((serializer, value) =>
    {
        var stream = new MemoryStream();
        using (var session = SessionPool.GetSession())
        {
            var writer = Writer.CreatePooled(stream, session);
            try
            {
                serializer.Serialize(value, ref writer);
            }
            finally
            {
                writer.Dispose();
            }
        }

        stream.Position = 0;
        return serializer.Deserialize(stream);
    });

    /// <summary>Through segments.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_ReadOnlySequence() => ViaSerializer(static (serializer, value) =>
        serializer.Deserialize(serializer.SerializeToArray(value).Batch(3).ToReadOnlySequence()));

    /// <summary>Through a pooled buffer, and a slice of it.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_PooledBuffer() => ViaSerializer((serializer, value) =>
    {
        using var session = SessionPool.GetSession();
        var writer = Writer.CreatePooled(session);
        serializer.Serialize(value, ref writer);
        var read = serializer.Deserialize(writer.Output.Slice());
        writer.Dispose();
        return read;
    });

    /// <summary>Through shared pages.</summary>
    [Fact]
    public void CanRoundTripViaSerializer_ArcBuffer() => ViaSerializer(static (serializer, value) =>
    {
        using var pages = new ArcBufferWriter();
        serializer.Serialize(value, pages);
        using var slice = pages.ConsumeSlice(pages.Length);
        return serializer.Deserialize(slice);
    });

    /// <summary>Through the serializer of objects.</summary>
    [Fact]
    public void CanRoundTripViaObjectSerializer()
    {
        var serializer = ServiceProvider.GetRequiredService<ObjectSerializer>();
        foreach (var value in Values())
        {
            var bytes = new byte[Room];
            serializer.Serialize(value!, bytes, typeof(TValue));
            Same(value, (TValue)serializer.Deserialize(bytes, typeof(TValue)));
        }
    }

    /// <summary>Through the codec, from segments of all lengths.</summary>
    [Fact]
    public void RoundTrippedValuesEqual()
    {
        foreach (var value in Values())
            Same(value, Read(Pipe(value)));
    }

    /// <summary>The value that a variable has before it gets one.</summary>
    [Fact]
    public void CanRoundTripDefaultValueViaCodec() => Same(default!, Read(Pipe(default!)));

    /// <summary>A field of the class object.</summary>
    [Fact]
    public void CanRoundTripWeaklyTyped()
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer>();
        foreach (var value in Values())
            Same(value, (TValue)serializer.Deserialize<object>(serializer.SerializeToArray<object>(value!))!);
    }

    /// <summary>As items of a list; one object is one object afterwards.</summary>
    [Fact]
    public void CanRoundTripCollectionViaSerializer()
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer<List<TValue>>>();
        List<TValue> values = [.. Values(), .. Values().Reverse()];
        var read = serializer.Deserialize(serializer.SerializeToArray(values));
        Assert.Equal(values.Count, read.Count);
        for (var i = 0; i < values.Count; i++)
            Same(values[i], read[i]);
    }

    /// <summary>As objects of a list.</summary>
    [Fact]
    public void CanRoundTripWeaklyTypedCollectionViaSerializer()
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer<List<object?>>>();
        List<object?> values = [.. Values()];
        var read = serializer.Deserialize(serializer.SerializeToArray(values));
        Assert.Equal(values.Count, read.Count);
        for (var i = 0; i < values.Count; i++)
            Same((TValue)values[i]!, (TValue)read[i]!);
    }

    /// <summary>Twice in a tuple: what was one object is one object afterwards.</summary>
    [Fact]
    public void CanRoundTripTupleViaSerializer()
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer<(TValue, TValue)>>();
        foreach (var value in Values())
        {
            var (first, second) = serializer.Deserialize(serializer.SerializeToArray((value, value)));
            Same(value, first);
            Same(value, second);
            if (HasIdentity)
                Assert.Same(first, second);
        }
    }

    /// <summary>Copied in a tuple.</summary>
    [Fact]
    public void CanCopyTupleViaSerializer()
    {
        var copier = ServiceProvider.GetRequiredService<DeepCopier<(TValue, TValue)>>();
        foreach (var value in Values())
        {
            var (first, second) = copier.Copy((value, value));
            Same(value, first);
            Same(value, second);
            if (HasIdentity)
                Assert.Same(first, second);
        }
    }

    /// <summary>Copied as items of a list.</summary>
    [Fact]
    public void CanCopyCollectionViaSerializer()
    {
        var copier = ServiceProvider.GetRequiredService<DeepCopier<List<TValue>>>();
        List<TValue> values = [.. Values()];
        var copies = copier.Copy(values);
        Assert.Equal(values.Count, copies.Count);
        for (var i = 0; i < values.Count; i++)
            Same(values[i], copies[i]);
    }

    /// <summary>A reader that does not know the field comes to its end, and counts like one that does.</summary>
    [Fact]
    public void CanSkipValue()
    {
        foreach (var value in Values())
            Skip(value);
    }

    /// <summary>The same for the value that a variable has before it gets one.</summary>
    [Fact]
    public void CanSkipDefaultValue() => Skip(default!);

    /// <summary>The data can be described, and has nothing after it.</summary>
    [Fact]
    public void ProducesValidBitStream()
    {
        foreach (var value in Values())
        {
            using var writing = SessionPool.GetSession();
            var bytes = Written(value, writing);
            using var formatting = SessionPool.GetSession();
            var text = BitStreamFormatter.Format(bytes, formatting);
            Assert.False(string.IsNullOrWhiteSpace(text));
            Assert.DoesNotContain("\n! ", text, StringComparison.Ordinal);
        }
    }

    /// <summary>What a value is written to does not change its bytes.</summary>
    [Fact]
    public void WritersProduceSameResults()
    {
        foreach (var value in Values())
        {
            using var session = SessionPool.GetSession();
            var expected = Written(value, session);
            var pipe = Pipe(value);
            Assert.Equal(expected, pipe);
            Assert.Equal(expected, Written(new TestBufferWriterStruct(), value).GetReadOnlySequence(7).ToArray());
            foreach (var size in MaxSegmentSizes)
                Assert.Equal(expected, Written(new TestMultiSegmentBufferWriter(size), value).GetReadOnlySequence(size).ToArray());
            var stream = new MemoryStream();
            Written(new MemoryStreamBufferWriter(stream), value);
            Assert.Equal(expected, stream.ToArray());
            stream.SetLength(0);
            Written(new ArrayStreamBufferWriter(stream), value);
            Assert.Equal(expected, stream.ToArray());
        }
    }

    /// <summary>The codec under test.</summary>
    protected virtual TCodec CreateCodec() => ServiceProvider.GetRequiredService<TCodec>();

    /// <summary>Objects that cannot change are not counted by every codec: two equal ones may come of one.</summary>
    private bool HasIdentity => !typeof(TValue).IsValueType
        && ServiceProvider.GetRequiredService<IDeepCopierProvider>().TryGetDeepCopier<TValue>() is { } copier
        && (copier as IOptionalDeepCopier)?.IsShallowCopyable() != true;

    private void ViaSerializer(Func<Serializer<TValue>, TValue, TValue> roundTrip)
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer<TValue>>();
        foreach (var value in Values())
            Same(value, roundTrip(serializer, value));
    }

    private byte[] Written(TValue value, SerializerSession session)
    {
        var writer = Writer.CreatePooled(session);
        CreateCodec().WriteField(ref writer, 0, typeof(TValue), value);
        writer.Commit();
        Assert.Equal(writer.Position, writer.Output.Length);
        var bytes = writer.Output.ToArray();
        writer.Dispose();
        return bytes;
    }

    private TWriter Written<TWriter>(TWriter destination, TValue value)
        where TWriter : IBufferWriter<byte>
    {
        using var session = SessionPool.GetSession();
        var writer = Writer.Create(destination, session);
        CreateCodec().WriteField(ref writer, 0, typeof(TValue), value);
        writer.Commit();
        return writer.Output;
    }

    private byte[] Pipe(TValue value)
    {
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        using var session = SessionPool.GetSession();
        var writer = Writer.Create(pipe.Writer, session);
        CreateCodec().WriteField(ref writer, 0, typeof(TValue), value);
        writer.Commit();
        pipe.Writer.Complete();
        Assert.True(pipe.Reader.TryRead(out var result));
        var bytes = result.Buffer.ToArray();
        pipe.Reader.AdvanceTo(result.Buffer.End);
        pipe.Reader.Complete();
        return bytes;
    }

    private TValue Read(byte[] bytes)
    {
        foreach (var size in MaxSegmentSizes)
        {
            using var segmented = SessionPool.GetSession();
            var segments = Reader.Create(bytes.Batch(size).ToReadOnlySequence(), segmented);
            CreateCodec().ReadValue(ref segments, segments.ReadFieldHeader());
            Assert.Equal(bytes.Length, segments.Position);
        }

        using var session = SessionPool.GetSession();
        var reader = Reader.Create(bytes, session);
        var value = CreateCodec().ReadValue(ref reader, reader.ReadFieldHeader());
        Assert.Equal(bytes.Length, reader.Position);
        return value;
    }

    private void Skip(TValue value)
    {
        using var writing = SessionPool.GetSession();
        var bytes = Written(value, writing);
        using var skipping = SessionPool.GetSession();
        var skipper = Reader.Create(bytes, skipping);
        skipper.SkipField(skipper.ReadFieldHeader());
        Assert.Equal(bytes.Length, skipper.Position);
        using var consuming = SessionPool.GetSession();
        var consumer = Reader.Create(bytes.Batch(2).ToReadOnlySequence(), consuming);
        consumer.ConsumeUnknownField(consumer.ReadFieldHeader());
        Assert.Equal(bytes.Length, consumer.Position);
        Assert.Equal(writing.ReferencedObjects.CurrentReferenceId, consuming.ReferencedObjects.CurrentReferenceId);
    }
}

/// <summary>Tests of a codec of a struct.</summary>
/// <typeparam name="TField">What the codec writes.</typeparam>
/// <typeparam name="TCodec">The codec.</typeparam>
public abstract class ValueTypeFieldCodecTester<TField, TCodec> : FieldCodecTester<TField, TCodec>
    where TField : struct
    where TCodec : class, IFieldCodec<TField>
{
    /// <summary>Makes the services of one test.</summary>
    protected ValueTypeFieldCodecTester(ITestOutputHelper output)
        : base(output)
    {
    }

    /// <summary>Written without a header, as a part of another value.</summary>
    [Fact]
    public void ValueSerializerRoundTrip()
    {
        var serializer = ServiceProvider.GetRequiredService<ValueSerializer<TField>>();
        foreach (var original in TestValues)
        {
            var value = original;
            TField read = default;
            serializer.Deserialize(serializer.SerializeToArray(ref value), ref read);
            Assert.True(Equals(original, read), $"Written was {original}, read was {read}.");
        }
    }

    /// <summary>In a field that may have no value.</summary>
    [Fact]
    public void CanRoundTripNullable()
    {
        var serializer = ServiceProvider.GetRequiredService<Serializer<TField?>>();
        Assert.Null(serializer.Deserialize(serializer.SerializeToArray(null)));
        foreach (var value in TestValues)
            Assert.True(Equals(value, serializer.Deserialize(serializer.SerializeToArray(value))!.Value));
    }
}
