using System.Buffers;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Tests;

/// <summary>What the table of codecs asks last, and what goes wrong there.</summary>
public sealed class FieldCodecSourceTests
{
    [Fact]
    public void A_codec_whose_constructor_throws_fails_each_use_of_its_type_and_of_no_other()
    {
        using var services = With(typeof(BrokenCodec), typeof(TemperatureCodec));
        var serializer = services.GetRequiredService<Serializer>();
        for (var i = 0; i < 2; i++)
        {
            Assert.Equal("no file", Assert.Throws<TimeZoneNotFoundException>(() => serializer.SerializeToArray(new Broken())).Message);
            Assert.Equal(3, serializer.Deserialize<Temperature>(serializer.SerializeToArray(new Temperature(3))).Degrees);
        }
    }

    [Fact]
    public void Of_two_codecs_for_a_type_the_first_in_the_options_serves()
    {
        using var up = With(typeof(AddOneCodec), typeof(AddTwoCodec));
        Assert.Equal(8, Trip(up.GetRequiredService<Serializer>(), new Claimed(7)).Number);
        using var down = With(typeof(AddTwoCodec), typeof(AddOneCodec));
        Assert.Equal(9, Trip(down.GetRequiredService<Serializer>(), new Claimed(7)).Number);
    }

    [Fact]
    public void Options_with_codecs_that_nothing_uses_are_an_error_of_the_start()
    {
        ServiceCollection collection = new();
        SerializationServices.Add(collection);
        collection.Configure<TypeManifestOptions>(static options => options.Converters.Add(typeof(object)));
        using var services = collection.BuildServiceProvider();
        var scope = Assert.IsType<CodecScope>(services.GetRequiredService<ICodecScope>());
        Assert.Contains("AddSerializer", Assert.Throws<OrleansConfigurationException>(scope.CheckOptions).Message);
        collection.AddSerializer();
        using var mended = collection.BuildServiceProvider();
        mended.GetRequiredService<ICodecScope>().CheckOptions();
    }

    private static Claimed Trip(Serializer serializer, Claimed value) =>
        serializer.Deserialize<Claimed>(serializer.SerializeToArray(value));

    private static ServiceProvider With(params Type[] codecs) =>
        new ServiceCollection().AddSerializer(builder => builder.Configure(options => options.FieldCodecs.UnionWith(codecs)))
            .BuildServiceProvider();
}

public sealed class Broken;

public sealed class BrokenCodec : IFieldCodec<Broken>
{
    public BrokenCodec() => throw new TimeZoneNotFoundException("no file");

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Broken value)
        where TBufferWriter : IBufferWriter<byte> => throw new NotSupportedException();

    public Broken ReadValue<TInput>(ref Reader<TInput> reader, Field field) => throw new NotSupportedException();
}

public sealed class Claimed(int number)
{
    public int Number { get; } = number;
}

public abstract class AddCodec(int more) : IFieldCodec<Claimed>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Claimed value)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Claimed), WireType.VarInt);
        writer.WriteVarInt32(value.Number);
    }

    public Claimed ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return new Claimed(reader.ReadInt32(field.WireType) + more);
    }
}

public sealed class AddOneCodec() : AddCodec(1);

public sealed class AddTwoCodec() : AddCodec(2);
