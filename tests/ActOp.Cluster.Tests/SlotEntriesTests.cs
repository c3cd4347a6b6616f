using System.Net;
using System.Numerics;
using ActOp.Runtime.Directory;
using FsCheck;
using FsCheck.Fluent;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class SlotEntriesTests
{
    private static readonly SiloAddress[] Silos = [.. Enumerable.Range(1, 3)
        .Select(number => SiloAddress.New(new IPEndPoint(IPAddress.Loopback, number), number))];

    private readonly SlotEntries _entries = new();
    private readonly Residences _residences = new();

    /// <summary>Few keys and many steps, so that most of them meet something; keys of all lengths, and of two kinds.</summary>
    [Fact]
    public void It_holds_what_a_dictionary_would_hold()
    {
        var step = Gen.Choose(0, 9).SelectMany(what => Gen.Choose(0, 60)
            .SelectMany(grain => Gen.Choose(0, 2).Select(silo => (what, grain, silo))));
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(100), Prop.ForAll(step.ArrayOf(200).ToArbitrary(), Matches));
    }

    [Fact]
    public void Keys_with_one_hash_are_told_apart()
    {
        var clashing = Enumerable.Range(0, 20)
            .Select(number => GrainId.Create(GrainType.Create("kind"), IdSpan.UnsafeCreate([(byte)number], 7))).ToArray();
        foreach (var grain in clashing)
            _entries.Set(grain, At(0, grain.Key.AsSpan()[0]), _residences);
        foreach (var grain in clashing.Where(grain => grain.Key.AsSpan()[0] % 2 == 0))
            Assert.True(_entries.Remove(grain));
        Assert.All(clashing, grain => Assert.Equal(
            grain.Key.AsSpan()[0] % 2 == 1,
            _entries.TryGet(grain, out var found) && found.Epoch == grain.Key.AsSpan()[0]));
    }

    /// <summary>As if the keys had been chosen so. Without another hash, each is behind all those before it.</summary>
    [Fact]
    public void Many_keys_with_one_hash_are_not_one_run()
    {
        const int Grains = 20_000;
        var grains = Enumerable.Range(0, Grains)
            .Select(number => GrainId.Create(GrainType.Create("kind"), new IdSpan(KeyWithOneHash((uint)number)))).ToArray();
        Assert.Single(grains.Select(grain => grain.GetUniformHashCode()).Distinct());
        for (var number = 0; number < Grains; number++)
            _entries.Set(grains[number], At(0, number), _residences);
        Assert.InRange(grains.Sum(grain => (long)_entries.DistanceOf(grain)), 0, Grains * 100L);
        for (var number = 0; number < Grains; number += 2)
            Assert.True(_entries.Remove(grains[number]));
        for (var number = 0; number < Grains; number++)
            Assert.Equal(number % 2 == 1, _entries.TryGet(grains[number], out var found) && found.Epoch == number);
        var listed = new List<Registration>();
        _entries.CopyTo(listed);
        Assert.Equal(grains.Where((_, number) => number % 2 == 1).Order(), listed.Select(registration => registration.Grain).Order());
    }

    /// <summary>XXH32 of eight bytes, solved for the second four.</summary>
    private static byte[] KeyWithOneHash(uint first)
    {
        const uint Prime3 = 0xC2B2AE3D;
        const uint Prime4 = 0x27D4EB2F;
        const uint InverseOfPrime3 = 0xA89ED915;
        var afterFirst = BitOperations.RotateLeft(0x165667B1 + 8 + (first * Prime3), 17) * Prime4;
        var second = (0x12345678 - afterFirst) * InverseOfPrime3;
        return [.. BitConverter.GetBytes(first), .. BitConverter.GetBytes(second)];
    }

    [Fact]
    public void A_key_whose_hash_is_nothing_is_kept_with_its_own_hash()
    {
        var id = GrainId.Create(GrainType.Create("kind"), default(IdSpan));
        _entries.Set(id, At(0, 1), _residences);
        var listed = new List<Registration>();
        _entries.CopyTo(listed);
        Assert.Equal(id, Assert.Single(listed).Grain);
    }

    [Fact]
    public void Registrations_of_one_kind_on_one_silo_share_what_says_so()
    {
        for (var grain = 0; grain < 1000; grain++)
            _entries.Set(Grain(grain), At(grain % 3, grain), _residences);
        Assert.Equal(6, _residences.Count);
        _residences.Forget(silo => silo.Equals(Silos[0]));
        Assert.Equal(4, _residences.Count);
        Assert.True(_entries.TryGet(Grain(0), out var kept) && kept.Silo.Equals(Silos[0]));
    }

    private static void Matches((int What, int Grain, int Silo)[] steps)
    {
        var (entries, residences, oracle) = (new SlotEntries(), new Residences(), new Dictionary<GrainId, Location>());
        var epoch = 0;
        foreach (var (what, number, silo) in steps)
        {
            var grain = Grain(number);
            switch (what)
            {
                case < 6:
                    oracle[grain] = At(silo, ++epoch);
                    entries.Set(grain, oracle[grain], residences);
                    break;
                case < 9:
                    Assert.Equal(oracle.Remove(grain), entries.Remove(grain));
                    break;
                default:
                    entries.RemoveWhere(one => one.Equals(Silos[silo]));
                    foreach (var (key, _) in oracle.Where(one => one.Value.Silo.Equals(Silos[silo])).ToArray())
                        oracle.Remove(key);
                    break;
            }

            Assert.Equal(oracle.Count, entries.Count);
        }

        for (var number = 0; number <= 60; number++)
        {
            var known = oracle.TryGetValue(Grain(number), out var expected);
            Assert.Equal(known, entries.TryGet(Grain(number), out var found));
            Assert.Equal(expected, found);
        }

        var all = new List<Registration>();
        entries.CopyTo(all);
        Assert.Equal(
            oracle.OrderBy(one => one.Key), all.OrderBy(one => one.Grain).Select(one => KeyValuePair.Create(one.Grain, one.Location)));
    }

    private static GrainId Grain(int number) =>
        GrainId.Create(number % 2 == 0 ? "even" : "odd", new string('k', number % 20) + (number / 2));

    private static Location At(int silo, int epoch) => new(Silos[silo], new ActivationId(new Guid(epoch, 0, 0, new byte[8])), epoch);
}
