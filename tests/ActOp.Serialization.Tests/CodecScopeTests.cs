using System.Buffers;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Tests;

/// <summary>Several services with codecs of applications in one process.</summary>
public sealed class CodecScopeTests
{
    [Fact]
    public void A_serializer_and_a_copier_without_services_use_no_codecs_of_newer_ones()
    {
        using var newer = new ServiceCollection().AddSerializer(static builder => builder.Configure(static options =>
        {
            options.FieldCodecs.Add(typeof(NewerMarkedCodec));
            options.Copiers.Add(typeof(NewerMarkedCodec));
        })).BuildServiceProvider();
        Assert.Throws<NotSupportedException>(() => newer.GetRequiredService<DeepCopier>().Copy(new Marked(9)));

        var serializer = new Serializer();
        Assert.Equal(9, Assert.IsType<Marked>(serializer.Deserialize<object>(serializer.SerializeToArray<object>(new Marked(9)))).Number);
        Assert.Equal(10, new DeepCopier().Copy(new Marked(9)).Number);
    }

    [Fact]
    public void A_copier_uses_the_copiers_of_its_own_services_beside_newer_ones()
    {
        using var services = WithCopier(typeof(BoatCopier));
        var copier = services.GetRequiredService<DeepCopier<List<Boat>>>();
        using var newer = WithCopier(typeof(OtherBoatCopier));
        Assert.Equal("b (other copy)", newer.GetRequiredService<DeepCopier<List<Boat>>>().Copy([new Boat { Name = "b" }])[0].Name);

        Assert.Equal("b (copy)", copier.Copy([new Boat { Name = "b" }])[0].Name);

        static ServiceProvider WithCopier(Type copier) => new ServiceCollection()
            .AddSerializer(builder => builder.Configure(options => options.Copiers.Add(copier))).BuildServiceProvider();
    }
}

public sealed class NewerMarkedCodec : IFieldCodec<Marked>, IDeepCopier<Marked>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Marked value)
        where TBufferWriter : IBufferWriter<byte> => throw new NotSupportedException();

    public Marked ReadValue<TInput>(ref Reader<TInput> reader, Field field) => throw new NotSupportedException();

    public Marked DeepCopy(Marked input, Orleans.Serialization.Cloning.CopyContext context) => throw new NotSupportedException();
}

public sealed class OtherBoatCopier : IDeepCopier<Boat>
{
    public Boat DeepCopy(Boat input, Orleans.Serialization.Cloning.CopyContext context) => new() { Name = input.Name + " (other copy)" };
}
